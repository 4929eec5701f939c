"""Each optimizer against the playbook's formula, written out in float64, step by step."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from tunewright.errors import PipelineError  # noqa: E402
from tunewright.pipeline import optimizer as opt  # noqa: E402

RATES = [0.1, 0.1, 0.07, 0.05, 0.2, 0.01, 0.03]  # a schedule, since some rules depend on it


def gradients(count: int = len(RATES)) -> torch.Tensor:
    scales = torch.tensor([1e-6, 1e-3, 1.0, 100.0], dtype=torch.float64)
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(1)).double() * scales


def followed(choice, dtype=torch.float64) -> torch.Tensor:
    """The weights after each step of the optimizer on the given gradients."""
    weights = torch.nn.Parameter(torch.arange(1.0, 5.0, dtype=dtype))
    optimizer = choice.build([weights], learning_rate=123.0)
    path = []
    for rate, gradient in zip(RATES, gradients(), strict=True):
        opt.set_learning_rate(optimizer, rate)
        weights.grad = gradient.to(dtype)
        optimizer.step()
        path.append(weights.detach().clone())
    return torch.stack(path)


def formula(name: str, decay: float = 0.0, decoupled: bool = False, **h: float) -> torch.Tensor:
    """The playbook's formulas, line by line."""
    theta = torch.arange(1.0, 5.0, dtype=torch.float64)
    m = torch.zeros_like(theta)
    v = torch.ones_like(theta) if name == "rmsprop" else torch.zeros_like(theta)
    path = []
    for t, (eta, g) in enumerate(zip(RATES, gradients(), strict=True)):
        if decoupled:
            theta = theta * (1 - eta * decay)
        else:
            g = g + decay * theta
        if name == "sgd":
            theta = theta - eta * g
        elif name == "momentum":
            v = h["momentum"] * v + g
            theta = theta - eta * v
        elif name == "nesterov":
            v = h["momentum"] * v + g
            theta = theta - eta * (h["momentum"] * v + g)
        elif name == "rmsprop":
            v = h["rho"] * v + (1 - h["rho"]) * g**2
            m = h["momentum"] * m + eta / torch.sqrt(v + h["epsilon"]) * g
            theta = theta - m
        else:
            m = h["beta1"] * m + (1 - h["beta1"]) * g
            v = h["beta2"] * v + (1 - h["beta2"]) * g**2
            b = math.sqrt(1 - h["beta2"] ** (t + 1)) / (1 - h["beta1"] ** (t + 1))
            ahead = h["beta1"] * m + (1 - h["beta1"]) * g if name == "nadam" else m
            theta = theta - eta * b * ahead / (torch.sqrt(v) + h["epsilon"])
        path.append(theta)
    return torch.stack(path)


ADAM = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-4}


@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize(
    "choice, name, hyperparameters",
    [
        (opt.SGD, "sgd", {}),
        (opt.Momentum, "momentum", {"momentum": 0.8}),
        (opt.Nesterov, "nesterov", {"momentum": 0.8}),
        (opt.RMSProp, "rmsprop", {"rho": 0.95, "momentum": 0.8, "epsilon": 1e-4}),
        (lambda **h: opt.Adam(form="playbook", **h), "adam", ADAM),
        (opt.NAdam, "nadam", ADAM),
    ],
    ids=["sgd", "momentum", "nesterov", "rmsprop", "adam", "nadam"],
)
def test_equals_the_playbook(choice, name: str, hyperparameters: dict, decay: float) -> None:
    made = followed(choice(weight_decay=decay, **hyperparameters))
    expected = formula(name, decay, **hyperparameters)
    torch.testing.assert_close(made, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind, name", [(opt.AdamW, "adam"), (opt.NAdamW, "nadam")])
def test_decoupled_weight_decay(kind, name: str) -> None:
    made = followed(kind(weight_decay=0.3, form="playbook", **ADAM))
    torch.testing.assert_close(made, formula(name, 0.3, True, **ADAM), rtol=1e-12, atol=0)


def test_torch_adam_is_the_playbooks_when_epsilon_is_tiny_and_is_not_when_it_is_large() -> None:
    tiny = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-30}
    torch.testing.assert_close(
        followed(opt.Adam(**tiny)), formula("adam", **tiny), rtol=1e-9, atol=0
    )
    large = {**tiny, "epsilon": 1e-2}
    difference = (followed(opt.Adam(**large)) - formula("adam", **large)).abs().max()
    assert difference > 1e-3
    # What torch computes instead: the playbook's rule with epsilon scaled by sqrt(1 - beta2^t).
    both = {**large, "epsilon": large["epsilon"] * math.sqrt(1 - 0.99)}
    first = formula("adam", **both)[0]
    torch.testing.assert_close(followed(opt.Adam(**large))[0], first, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "choice, name, hyperparameters",
    [
        (opt.RMSProp, "rmsprop", {"rho": 0.95, "momentum": 0.8, "epsilon": 1e-30}),
        (opt.NAdam, "nadam", {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-30}),
    ],
)
def test_torch_differs_even_without_epsilon(choice, name: str, hyperparameters: dict) -> None:
    torchs = followed(choice(form="torch", **hyperparameters))
    assert (torchs - formula(name, **hyperparameters)).abs().max() > 1e-3


@pytest.mark.parametrize(
    "choice", [opt.NAdamW(), opt.RMSProp(momentum=0.9), opt.Adam(form="playbook")]
)
def test_hyperparameters_may_be_tensors(choice) -> None:
    weights = torch.nn.Parameter(torch.arange(1.0, 5.0, dtype=torch.float64))
    optimizer = choice.build([weights], learning_rate=1.0)
    for group in optimizer.param_groups:
        for name, value in group.items():
            if isinstance(value, float):
                group[name] = torch.tensor(value, dtype=torch.float64)
    path = []
    for rate, gradient in zip(RATES, gradients(), strict=True):
        opt.set_learning_rate(optimizer, rate)
        weights.grad = gradient
        optimizer.step()
        path.append(weights.detach().clone())
    torch.testing.assert_close(torch.stack(path), followed(choice), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", opt._NAMED)
def test_a_restored_optimizer_goes_on_bit_for_bit(name: str) -> None:
    def build():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 1))
        return model, opt.named(name).build(model.parameters(), 0.1)

    def train(model, optimizer, part):
        for rate, batch in part:
            opt.set_learning_rate(optimizer, rate)
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()

    steps = list(zip(RATES, torch.randn(len(RATES), 8, 4), strict=True))
    model, optimizer = build()
    train(model, optimizer, steps)
    half, first = build()
    train(half, first, steps[:4])
    again, second = build()
    again.load_state_dict(half.state_dict())
    opt.restore(second, first.state_dict())
    train(again, second, steps[4:])
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_restore_keeps_the_tensors_that_hold_hyperparameters() -> None:
    weights = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([weights], lr=torch.tensor(0.1), foreach=False)
    rate = optimizer.param_groups[0]["lr"]
    saved = {**optimizer.state_dict()}
    saved["param_groups"][0]["lr"] = torch.tensor(0.25)
    opt.restore(optimizer, saved)
    assert optimizer.param_groups[0]["lr"] is rate and rate == 0.25


def test_groups_may_scale_the_rate_and_unused_parameters_stay() -> None:
    a, b, unused = (torch.nn.Parameter(torch.zeros(1)) for _ in range(3))
    optimizer = opt.NAdam().build(
        [{"params": [a]}, {"params": [unused, b], "lr_scale": 0.5}], learning_rate=1.0
    )
    opt.set_learning_rate(optimizer, 0.2)
    a.grad = b.grad = torch.ones(1)
    optimizer.step()
    assert b.item() == pytest.approx(a.item() / 2) and unused.item() == 0


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda: opt.named("adm"), "Did you mean 'adam'"),
        (lambda: opt.named("lion9000"), "There are sgd"),
        (lambda: opt.named("adam", beta_1=0.9), "Did you mean 'beta1'"),
        (lambda: opt.Adam(beta1=1.0), "beta1=1.0 must be finite and in 0 <= value < 1"),
        (lambda: opt.AdamW(weight_decay=-1), "weight_decay=-1"),
        (lambda: opt.SGD(weight_decay=math.nan), "not a number"),
        (lambda: opt.Nesterov(momentum=0.0), "use SGD"),
        (lambda: opt.NAdam(form="tf"), "form='tf'"),
        (lambda: opt.SGD().build([], 0.1), "no parameters"),
    ],
)
def test_refused_with_the_remedy(build, words: str) -> None:
    with pytest.raises(PipelineError) as refused:
        build()
    assert words in str(refused.value)
