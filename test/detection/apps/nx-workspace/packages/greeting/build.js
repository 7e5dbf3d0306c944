import { cpSync } from 'node:fs'

cpSync('src', 'dist', { recursive: true })
