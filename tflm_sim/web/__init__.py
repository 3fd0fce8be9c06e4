"""The page that sizes a model in the browser: this very package in Pyodide, nothing installed, nothing sent anywhere."""
