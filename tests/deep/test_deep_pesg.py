"""PESG of networks: the compiled solver's iterates, stages, state, what it does with bad input."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from linear_runs import WEIGHT_DECAY, LinearProblem  # noqa: E402

from kernbench.deep import PESG, PairBatchSampler  # noqa: E402
from kernbench.solvers.ranking.stochastic.pesg import PESG as CompiledPESG  # noqa: E402


@pytest.fixture(scope="module")
def problem():
    return LinearProblem()


@pytest.fixture
def module(problem):
    return problem.module()


def step(optimizer, module, problem, batch):
    return optimizer.step(lambda: module(problem.inputs[batch]), problem.labels[batch])


@pytest.mark.parametrize("options", [{}, {"clip": 0.05, "margin": 2.0}, {"decay": 0.5}], ids=str)
def test_a_linear_module_walks_with_the_compiled_solver(problem, module, options):
    solver, sampler = problem.compiled(CompiledPESG, stage_steps=30, **options)
    optimizer = PESG(module.parameters(), weight_decay=WEIGHT_DECAY, stage_steps=30, **options)
    for _ in range(100):
        solver.advance(1)
        step(optimizer, module, problem, sampler.draw())
        state, ours = solver.solution().state, optimizer.state[module.weight]
        v = np.append(module.weight.detach().ravel(), ours["centres"])
        reference = np.append(ours["reference"].ravel(), ours["centres_reference"])
        np.testing.assert_allclose(v, state["w"], rtol=0, atol=1e-8)
        np.testing.assert_allclose(reference, state["reference"], rtol=0, atol=1e-8)
        np.testing.assert_allclose(ours["dual"], state["theta"][0], rtol=0, atol=1e-8)
    assert optimizer.stage == 3


def test_stages_end_where_one_says(problem):
    ends = []
    for stage_steps in (10, None):
        module = problem.module()
        optimizer = PESG(module.parameters(), stage_steps=stage_steps)
        for number, batch in enumerate(PairBatchSampler(problem.y, n_batches=25, seed=0), 1):
            step(optimizer, module, problem, batch)
            if stage_steps is None and number % 10 == 0:
                optimizer.end_stage()
                optimizer.end_stage()  # a stage without steps does not end
        ends.append(module.weight.detach().clone())
        assert optimizer.stage == 2
    assert torch.equal(*ends)


def test_a_run_resumes_bit_for_bit(problem, module):
    whole, sampler = PESG(module.parameters(), stage_steps=10), PairBatchSampler(problem.y, seed=0)
    for _ in range(13):
        step(whole, module, problem, sampler.draw())
    second = problem.module()
    second.load_state_dict(module.state_dict())
    part = PESG(second.parameters(), stage_steps=10)
    part.load_state_dict(copy.deepcopy(whole.state_dict()))
    for _ in range(13):
        batch = sampler.draw()
        step(whole, module, problem, batch)
        step(part, second, problem, batch)
    assert torch.equal(module.weight, second.weight)


def test_frozen_parameters_do_not_even_decay(problem):
    """The weight decay is not 0 by default."""
    module = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    module[0].requires_grad_(False)
    before = copy.deepcopy(module.state_dict())
    optimizer = PESG([{"params": module[2].parameters()}, {"params": module[0].parameters()}], stage_steps=5)
    for batch in PairBatchSampler(problem.y, n_batches=12, seed=0):
        step(optimizer, module, problem, batch)
    assert torch.equal(module[0].weight, before["0.weight"]) and torch.equal(module[0].bias, before["0.bias"])
    assert not torch.equal(module[2].weight, before["2.weight"])


def test_it_learns(problem, module):
    from kernbench.metrics import roc_auc

    optimizer = PESG(module.parameters(), lr=0.05)
    for batch in PairBatchSampler(problem.y, n_batches=150, seed=0):
        step(optimizer, module, problem, batch)
    assert roc_auc(problem.y, module(problem.inputs).detach().numpy()[:, 0]) > 0.85


def test_scores_that_are_not_finite_stop_it_at_the_reference(problem, module):
    optimizer, batch = PESG(module.parameters(), stage_steps=5), PairBatchSampler(problem.y, seed=0).draw()
    for _ in range(7):
        step(optimizer, module, problem, batch)
    with torch.no_grad():
        module.weight *= np.inf
    with pytest.raises(ValueError, match=r"lower lr=0.1 \(the step was 0.01\)"):
        step(optimizer, module, problem, batch)
    state = optimizer.state[module.weight]
    assert torch.equal(module.weight, state["reference"])
    assert torch.equal(state["centres"], state["centres_reference"])


def test_after_scores_that_are_not_finite_it_can_go_on(problem, module):
    """The mean of a stage with bad iterates does not become the reference point."""
    optimizer, batch = PESG(module.parameters(), stage_steps=5), PairBatchSampler(problem.y, seed=0).draw()
    step(optimizer, module, problem, batch)
    good = module.weight.detach().clone()
    bad = module.weight.register_hook(lambda slope: slope * np.nan)
    step(optimizer, module, problem, batch)
    bad.remove()
    with pytest.raises(ValueError, match="NaN or infinite"):
        step(optimizer, module, problem, batch)
    for _ in range(12):
        step(optimizer, module, problem, batch)
    assert optimizer.stage == 2 and torch.isfinite(module.weight).all() and not torch.equal(module.weight, good)


@pytest.mark.parametrize(
    "options", [{"lr": 0}, {"margin": 0}, {"decay": -1}, {"weight_decay": np.nan}, {"clip": 0}, {"stage_steps": 0}]
)
def test_bad_parameters(module, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        PESG(module.parameters(), **options)


def test_a_batch_without_a_class(problem, module):
    with pytest.raises(ValueError, match="no positive example"):
        PESG(module.parameters()).step(lambda: module(problem.inputs[:3]), torch.zeros(3))


def test_theta_stays_at_0_or_above(problem, module):
    optimizer = PESG(module.parameters())
    step(optimizer, module, problem, slice(0, 50))
    state = optimizer.state[module.weight]
    state["centres"].copy_(torch.tensor([9.0, 0.0]))  # further apart than the margin
    step(optimizer, module, problem, slice(0, 50))
    assert state["dual"] == 0.0
