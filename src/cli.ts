import { ConfigError, parseConfig } from './config.ts'
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

/** Runs a subcommand; resolves with the exit status. A wrong call or setting is one line and status 2. */
export async function runCommand(
  args: string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  const [command = 'serve', ...rest] = args
  if (['--help', '-h', 'help'].includes(command)) return print(usage)
  if (['--version', '-v', 'version'].includes(command)) return print(`${version}\n`)
  if (command !== 'serve' || rest.length > 0)
    return refuse(`davit: there is no command ${args.join(' ')}. See davit --help.`)
  try {
    await serve(parseConfig(env))
    return 0
  } catch (error) {
    if (error instanceof ConfigError) return refuse(`davit: ${error.message}`)
    throw error
  }
}

function print(text: string) {
  process.stdout.write(text)
  return 0
}

function refuse(line: string) {
  process.stderr.write(`${line}\n`)
  return 2
}
