"""The model that comes with the package: weights, llama.cpp's server, its catalogue."""
