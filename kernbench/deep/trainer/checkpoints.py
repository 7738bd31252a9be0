"""The state of a fit in a file, from which it is resumed bit for bit."""

import torch

from kernbench.deep.trainer import states

# What a continuation must share with the fit that wrote the file, beside the data.
SAME = ("method", "fpr_range", "n_positive", "n_negative", "learning_rate", "method_options", "look_every")


def read(model):
    """Return the content of the model's checkpoint; ValueError if it was written with other parameters."""
    content = states.read(model.checkpoint, "checkpoint")
    for name in SAME:
        mine, theirs = states.plain(getattr(model, name)), content["params"][name]
        if mine != theirs:
            raise ValueError(
                f"{model.checkpoint} was written with {name}={theirs!r}, and now {name}={mine!r}: give the same, or "
                "another file"
            )
    return content


class Checkpoint:
    """The file of a fit."""

    def __init__(self, model, run, seeds):
        self.path, self.run, self.seeds = model.checkpoint, run, seeds
        self.params = {name: states.plain(getattr(model, name)) for name in SAME}
        held = run.method.examples
        self.sizes = {"n": len(held), "n_positive": int(held.positive.sum())}

    def write(self):
        """Write the state of the run, whole or not at all."""
        run, method = self.run, self.run.method
        content = {
            "params": self.params,
            "sizes": self.sizes,
            "seeds": self.seeds,
            "method": method.state_dict(),
            "run": {
                "n_iter": run.n_iter,
                "seconds": run.clock.seconds,
                "trace": states.plain(run.trace.columns),
                "last": run.last,
                "best": run.best,
                "best_score": run.best_score,
                "best_n_iter": run.best_n_iter,
                "losses": list(run.losses),
            },
            "rng": torch.get_rng_state(),
        }
        if method.like.device.type == "cuda":
            content["cuda_rng"] = torch.cuda.get_rng_state(method.like.device)
        states.write(self.path, "checkpoint", content)

    def restore(self, content):
        """Go on from what `read` returned.

        Raises
        ------
        ValueError
            If it is of another module, or of other data.
        """
        run, method = self.run, self.run.method
        if content["sizes"] != self.sizes:
            theirs, mine = (
                f"{sizes['n']} ({sizes['n_positive']} positive)" for sizes in (content["sizes"], self.sizes)
            )
            raise ValueError(f"{self.path} was written for {theirs} training examples, and there are {mine} now")
        states.load_weights(method.module, content["method"]["module"], self.path)
        method.load_state_dict(content["method"])
        kept = content["run"]
        run.clock.seconds, run.trace.columns = kept["seconds"], kept["trace"]
        for name in ("n_iter", "last", "best", "best_score", "best_n_iter", "losses"):
            setattr(run, name, kept[name])
        torch.set_rng_state(content["rng"])
        if "cuda_rng" in content and method.like.device.type == "cuda":
            torch.cuda.set_rng_state(content["cuda_rng"], method.like.device)
