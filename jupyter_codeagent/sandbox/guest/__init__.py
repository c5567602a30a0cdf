"""What runs inside the sandbox. Stands alone: nothing here imports the rest of the package.

In there it is the package `codeagent_inside` (see `serve.make_importable`), so imports are relative.
"""
