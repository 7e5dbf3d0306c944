import { backup } from './cli/backup.ts'
import { UsageError, print, readArguments, warn } from './cli/command.ts'
import type { Command, Environment } from './cli/command.ts'
import { connect } from './cli/connect.ts'
import { restore } from './cli/restore.ts'
import { user } from './cli/user.ts'
import { ConfigError, parseConfig, unknownSettings } from './config.ts'
import { examine } from './doctor/examine.ts'
import { AppError, Failure } from './platform/errors.ts'
import { journal } from './platform/journal.ts'
import { version } from './platform/root.ts'
import { serve as serveUntilEnd } from './serve.ts'

const usage = `Davit ${version}: builds, runs and watches your apps from git.

Usage: davit [command]

Commands:
  serve                       Start the server (the default). Settings come from DAVIT_* variables.
  backup FILE                 Write all that Davit knows into one file, also while it runs.
                              --with-logs takes the logs too, --force replaces a file.
  restore FILE                Bring it back, into a data directory that is empty.
  user reset-password EMAIL   Give a user a new password: typed, piped in, or made up.
  connect SERVICE             Forward a local port to a service, for psql and the like, until Ctrl-C.
                              --port chooses the local port, --target COMPONENT:PORT the service's,
                              --owner EMAIL the owner where two have a service of that name.
  doctor                      Look at engine, git, disk, clock and data: what is well, and what to do.

Options:
  --passphrase-file FILE      What seals a backup, or opens it; else DAVIT_BACKUP_PASSPHRASE, or asked for.
  --help                      Show this text.
  --version                   Show the version.

Settings are described in the README; DAVIT_DATA_DIR, DAVIT_HOST, DAVIT_PORT and DAVIT_URL are the
ones most installations need.
`

const serve: Command = async (args, env) => {
  if (args.length > 0) throw new UsageError(`there is no command serve ${args.join(' ')}.`)
  const config = parseConfig(env)
  for (const name of unknownSettings(env))
    journal.warn(`${name} is not a setting of this version of Davit`)
  await serveUntilEnd(config)
  return 0
}

const doctor: Command = async (args, env) => {
  readArguments(args, { usage: 'davit doctor', names: [] as const, options: {} })
  const findings = await examine(parseConfig(env), env)
  for (const { what, is, todo } of findings)
    print(`${todo ? 'to do' : 'ok   '}  ${what.padEnd(9)}  ${todo ? sentences(is, todo) : is}`)
  return findings.some(({ todo }) => todo) ? 1 : 0
}

const sentences = (is: string, todo: string) => `${is.replace(/\.$/, '')}. ${todo}`

const commands: Record<string, Command> = { serve, backup, restore, user, connect, doctor }

/** Runs a subcommand; resolves with the exit status: 2 for a wrong call or setting, 1 for what else stops it. */
export async function runCommand(args: string[], env: Environment): Promise<number> {
  const [name = 'serve', ...rest] = args
  if (['--help', '-h', 'help'].includes(name) || rest.includes('--help'))
    return tell(usage.trimEnd())
  if (['--version', '-v', 'version'].includes(name)) return tell(version)
  const command = Object.hasOwn(commands, name) ? commands[name] : null
  if (!command) return refuse(2, `there is no command ${args.join(' ')}. See davit --help.`)
  try {
    return await command(rest, env)
  } catch (error) {
    if (error instanceof ConfigError) return refuse(2, error.message)
    if (error instanceof UsageError) return refuse(2, `${error.message} See davit --help.`)
    if (error instanceof Failure) return refuse(1, `${error.message} ${error.hint}`)
    if (error instanceof AppError) return refuse(1, error.message)
    journal.error('unexpected error', error)
    return refuse(1, `it ended by an error of its own: ${(error as Error).message}`)
  }
}

function tell(text: string) {
  print(text)
  return 0
}

function refuse(status: number, sentence: string) {
  warn(sentence)
  return status
}
