"""What keeps models small while people work on them: a project file, pull requests, pytest, Keras.

project, cli_check         every model of ``tflm-sim.toml`` on every firmware of it, judged
project_text               that as text and Markdown
cli_diff, forge            that before and after a change, as the comment on a pull request
pytest_plugin              tests about the arena of your own models
keras                      a training that stops where its model cannot fit
"""
