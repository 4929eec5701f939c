// What the pages use of the vendored build, for the check of types.
type Update<T> = (next: T | ((before: T) => T)) => void;
export function html(parts: TemplateStringsArray, ...values: any[]): any;
export function render(what: any, into: Element): void;
export function useState<T>(first: T | (() => T)): [T, Update<T>];
export function useEffect(effect: () => void | (() => void), about?: any[]): void;
export function useMemo<T>(make: () => T, about: any[]): T;
export function useRef<T>(first: T): { current: T };
