import { runCommand } from './cli.ts'
import { writtenToItsEnd } from './cli/output.ts'

const status = await writtenToItsEnd(() => runCommand(process.argv.slice(2), process.env))
process.exit(status)
