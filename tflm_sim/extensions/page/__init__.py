"""The page that sizes a model in the browser: this package in Pyodide, nothing installed, nothing sent."""
