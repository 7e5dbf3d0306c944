import { ConfigError, parseConfig, unknownSettings } from './config.ts'
import { Failure } from './errors.ts'
import { journal } from './journal.ts'
import { serve } from './serve.ts'
import { version } from './version.ts'

const usage = `Davit ${version}: builds, runs and watches your apps from git.

Usage: davit [command]

Commands:
  serve        Start the server (the default). Settings come from DAVIT_* variables.

Options:
  --help       Show this text.
  --version    Show the version.

Settings are described in the README; DAVIT_DATA_DIR, DAVIT_HOST, DAVIT_PORT and DAVIT_URL are the
ones most installations need.
`

/** Runs a subcommand; resolves with the exit status: 2 for a wrong call or setting, 1 for what else stops it. */
export async function runCommand(
  args: string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  const [command = 'serve', ...rest] = args
  if (['--help', '-h', 'help'].includes(command)) return print(usage)
  if (['--version', '-v', 'version'].includes(command)) return print(`${version}\n`)
  if (command !== 'serve' || rest.length > 0)
    return refuse(2, `there is no command ${args.join(' ')}. See davit --help.`)
  try {
    const config = parseConfig(env)
    for (const name of unknownSettings(env))
      journal.warn(`${name} is not a setting of this version of Davit`)
    await serve(config)
    return 0
  } catch (error) {
    if (error instanceof ConfigError) return refuse(2, error.message)
    if (error instanceof Failure) return refuse(1, `${error.message} ${error.hint}`)
    journal.error('unexpected error', error)
    return refuse(1, `it ended by an error of its own: ${(error as Error).message}`)
  }
}

function print(text: string) {
  process.stdout.write(text)
  return 0
}

function refuse(status: number, sentence: string) {
  process.stderr.write(`davit: ${sentence}\n`)
  return status
}
