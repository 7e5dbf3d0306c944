throw new Error('The other app.')
