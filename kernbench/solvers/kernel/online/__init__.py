"""Online methods of the kernel SVM and of kernel regression: an example drawn at random, and a step on it.

::

    online          what all share: problem, draws, how a direction is reported
      pegasos  norma  norm_ball_sgd  perceptron       the methods: order of batches and passes, state, solution
        _pegasos  _norma  _norm_ball_sgd  _perceptron     their cores: the steps on a batch of draws
          _walk         fetches the kernel rows of the next steps together
    _intercept      the best intercept of slowly changing responses
"""
