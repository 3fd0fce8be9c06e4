"""Is it right: a plan, a lifetime, a board's figures?

Each module takes what the rooms below it say and judges. To read on:

    judge, verdict           does a model fit? the verdict of ``check``
    device_report,           a board's figures beside ours, and which setting would explain a difference
    alternatives
    explain_failure          a log of failures: which allocation failed, and what would be enough
    sanitizer, shadow        what is wrong with memory during AllocateTensors()
    lifetime_answers         questions about one tensor: where it is, who shares its bytes
"""
