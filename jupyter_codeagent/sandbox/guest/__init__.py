"""The code that runs inside the sandbox. It stands alone: nothing here imports the rest of the package.

In the sandbox it is the package `codeagent_inside` (see `serve.make_importable`), so imports are relative.
"""
