document.title = import.meta.env.MODE as string
