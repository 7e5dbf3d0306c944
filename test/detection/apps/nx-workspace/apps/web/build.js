import { cpSync } from 'node:fs'
import isOdd from 'is-odd'

if (isOdd(3)) cpSync('src', 'dist', { recursive: true })
