"""What ``kernbench fit`` prints."""


def outcome(result):
    """The lines of ``fit`` as a dict."""
    assert result.exit_code == 0, result.output
    return {line[:20].strip(): line[20:] for line in result.stdout.splitlines() if len(line) > 20}
