import { runCommand } from './cli.ts'

process.exit(await runCommand(process.argv.slice(2), process.env))
