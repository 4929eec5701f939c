// An exported site that is opened as a file: browsers load no modules then, so that the page explains itself.

if (location.protocol === "file:") document.getElementById("opened")?.removeAttribute("hidden");
