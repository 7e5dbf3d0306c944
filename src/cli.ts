import { UsageError, print, readArguments, warn } from './cli/command.ts'
import type { Command, Environment } from './cli/command.ts'
import { ConfigError, parseConfig, unknownSettings } from './config.ts'
import { AppError, Failure } from './platform/errors.ts'
import { journal } from './platform/journal.ts'
import { version } from './platform/root.ts'

const usage = `Davit ${version}: builds, runs and watches your apps from git.

Usage: davit [command]

From your computer, to a server with Davit:
  login ADDRESS               Log in to a server: allow it on the page that opens. --token asks for an API token,
                              which can be piped in, too. logout [ADDRESS] forgets it.
  deploy                      Deploy the files of this folder that git tracks, as they are, and follow it to its end.
                              --dirty sends those that git doesn't track too, but for what .gitignore excludes,
                              --no-cache builds without the cache, --detach doesn't follow it. --at TIME deploys later
                              what is pushed by then, --note TEXT in a freeze says why it can't wait. --share PERCENT
                              gives it that share of the requests, --sticky keeps visitors with a version by a cookie.
  promote                     Give all requests to the version that has a share of them.
  cancel                      Cancel the deployment that is under way or has a share, or the planned one.
  status                      Show what runs in each environment.
  logs                        Show what the app wrote; --follow goes on. --lines, --since (10m, 2h or a time), --search,
                              --level and --process choose, --deployment NUMBER (or latest) shows its log.
  run COMMAND                 Run a command beside the app, in a terminal if this is one; ends with its exit status.
                              --timeout SECONDS stops it (3600), --no-terminal only shows its output.
  env [list]                  List the variables. set NAME asks for the value or reads it from standard input,
                              set NAME=VALUE takes it, set --file FILE reads a .env file, unset NAME removes.
                              --secret, --plain and --build say what it is.
  backups [list]              List your backups; create [SERVICE] makes one of it, or of this folder's environment, prove ID
                              restores one for a test, restore ID over what it is of (--yes doesn't ask) or with --new
                              into a new service, download ID [FILE], cancel ID. --database, --name, --on SERVER,
                              --no-backup, --output FILE, --detach. --project and --env are for create.
  open                        Open the app in the browser; --page its page in Davit.
  link PROJECT                Say which project this folder is, where its git remotes don't; --remove undoes it.

  All of these take --server ADDRESS, --project NAME, --env NAME and --json. Without a login, DAVIT_SERVER and
  DAVIT_TOKEN name the server and its token.

  check [FILE]                Check davit.yaml (or davit.json, or package.json) and the Compose file of this folder, and
                              print the line and column of each mistake. --service NAME has the addresses, --json.

On the server:
  serve                       Start the server (the default). Settings come from DAVIT_* variables.
  backup FILE                 Write all of Davit's data to one file, also while it runs.
                              --with-logs includes the logs, --certificates Caddy’s, --force
                              replaces a file.
  restore FILE                Restore a backup into an empty data directory.
  restore REPOSITORY          Bring a whole server back from s3://server/bucket/directory, sftp:user@host:directory,
                              rest:https://host/ or a directory: Davit, and volumes and databases of services and apps.
                              --key-file FILE has its key, --identity is ssh's, --until TIME takes earlier backups,
                              --without NAME,… leaves out, --dry-run changes nothing.
  user reset-password EMAIL   Set a user's password: typed, piped in, or generated.
  connect SERVICE             Forward a local port to a service, for psql and the like, until Ctrl-C.
                              --port chooses the local port, --target COMPONENT:PORT the service's,
                              --owner EMAIL the owner where two have a service of that name.
  install                     Install Davit on this server, as root: what it needs, a user and a service.
                              --domain, --email, --host and --port are settings; --yes doesn't ask,
                              --dry-run changes nothing.
  upgrade [FILE or URL]       Upgrade the installed Davit; without a file, to the newest of DAVIT_RELEASES.
                              --sha256 SUM is its expected checksum, --force installs also the version
                              that runs, --timeout SECONDS limits the start of the new one.
  join ADDRESS CODE           Make this machine a server of the Davit at ADDRESS, as root, by the code that its page of
                              servers shows. Without CODE it is asked for, or read from standard input. It checks
                              first, and lists what it changes; --yes doesn't ask, --dry-run changes nothing,
                              --insecure allows an address without HTTPS.
  leave                       Undo that, after the server was removed in Davit; --force also if that Davit no longer
                              exists. --yes, --dry-run.
  uninstall                   Remove Davit from this server. Data and apps stay, unless --data and --apps
                              are given; --yes doesn't ask, --dry-run changes nothing.
  move USER@SERVER            Copy everything to another server with Davit, through ssh, and start it there: a
                              rehearsal. --cut-over stops this one for good, --undo starts it again (with
                              --force even if the other server can't be stopped);
                              --volumes and --without choose, --port and --identity are ssh's; --yes, --dry-run.
  doctor                      Check Docker, git, disk, clock, ports, domains, certificates and data, and say
                              what to fix. --json prints the findings for other programs.

Options:
  --passphrase-file FILE      The passphrase of a backup; else DAVIT_BACKUP_PASSPHRASE, or asked for.
  --help                      Show this text.
  --version [--json]          Show the version; with --json also which databases it opens.

Exit status: 0 done, 1 refused or failed, 2 wrong arguments, 3 not logged in, 130 interrupted; run: that of the
command, or 125 if it couldn't run or output is missing.

Davit serves its documentation under /docs, with all settings under /docs/settings. Most installations
need DAVIT_DATA_DIR, DAVIT_HOST, DAVIT_PORT and DAVIT_URL.
`

const serve: Command = async (args, env) => {
  if (args.length > 0) throw new UsageError(`there is no command serve ${args.join(' ')}.`)
  const config = parseConfig(env)
  for (const name of unknownSettings(env))
    journal.warn(`${name} isn’t a setting of this version of Davit`)
  await (await import('./serve.ts')).serve(config)
  return 0
}

const doctor: Command = async (args, env) => {
  const { json } = readArguments(args, {
    usage: 'davit doctor [--json]',
    options: { json: { type: 'boolean' } },
  })
  const { examine } = await import('./doctor/examine.ts')
  const { findingJson } = await import('./doctor/finding.ts')
  const findings = await examine(parseConfig(env), env)
  if (json) print(JSON.stringify({ findings: findings.map(findingJson) }, null, 2))
  else
    for (const { what, is, todo } of findings)
      print(`${todo ? 'to do' : 'ok   '}  ${what.padEnd(9)}  ${todo ? sentences(is, todo) : is}`)
  return findings.some(({ todo }) => todo) ? 1 : 0
}

const sentences = (is: string, todo: string) => `${is.replace(/\.$/, '')}. ${todo}`

/** For root on an installed server: uses the installation's settings, and runs as Davit's user. */
async function onServer(command: Command): Promise<Command> {
  const { asItsUser } = await import('./server/as-installed.ts')
  return (args, env) => command(args, asItsUser(env))
}

/** The same for a command whose files may be anywhere: root opens those. */
async function withFiles(command: Command): Promise<Command> {
  const { withItsRights } = await import('./server/as-installed.ts')
  return (args, env) => withItsRights(env, (settings) => command(args, settings))
}

/** Only root sees which process owns a socket, so sockets are read before switching to Davit's user. */
const doctorOnServer: Command = async (args, env) => {
  const { asInstalled } = await import('./server/as-installed.ts')
  const { listenersOn } = await import('./platform/tcp-sockets.ts')
  const { port, edgePorts } = parseConfig(asInstalled(env))
  await listenersOn([port, edgePorts.http, edgePorts.https])
  return (await onServer(doctor))(args, env)
}

/** A command's module is loaded when it runs, so that the server doesn't hold the others in memory. */
const commands: Record<string, () => Command | Promise<Command>> = {
  serve: () => serve,
  backup: async () => withFiles((await import('./cli/backup.ts')).backup),
  restore: async () => withFiles((await import('./cli/restore.ts')).restore),
  user: async () => onServer((await import('./cli/user.ts')).user),
  connect: async () => onServer((await import('./cli/connect.ts')).connect),
  login: async () => (await import('./client/login.ts')).login,
  logout: async () => (await import('./client/login.ts')).logout,
  deploy: async () => (await import('./client/deploy.ts')).deploy,
  promote: async () => (await import('./client/deploy.ts')).promote,
  cancel: async () => (await import('./client/deploy.ts')).cancel,
  status: async () => (await import('./client/status.ts')).status,
  open: async () => (await import('./client/status.ts')).open,
  link: async () => (await import('./client/status.ts')).link,
  logs: async () => (await import('./client/logs.ts')).logs,
  run: async () => (await import('./client/run.ts')).run,
  env: async () => (await import('./client/env.ts')).env,
  backups: async () => (await import('./client/backups.ts')).backups,
  check: async () => (await import('./client/check.ts')).check,
  doctor: () => doctorOnServer,
  install: async () => (await import('./cli/install.ts')).install,
  upgrade: async () => (await import('./cli/upgrade.ts')).upgrade,
  join: async () => (await import('./client/join.ts')).join,
  leave: async () => (await import('./cli/leave.ts')).leave,
  uninstall: async () => (await import('./cli/uninstall.ts')).uninstall,
  move: async () => (await import('./cli/move.ts')).move,
  receive: async () => (await import('./cli/move.ts')).receive, // started by move, on the other server
}

/** Resolves with the exit status: 2 for wrong arguments or settings, 1 for other failures. */
export async function runCommand(args: string[], env: Environment): Promise<number> {
  const [name = 'serve', ...rest] = args
  if (['--help', '-h', 'help'].includes(name) || asksForHelp(name, rest))
    return tell(usage.trimEnd())
  if (['--version', '-v', 'version'].includes(name))
    return tell(rest.includes('--json') ? await describe() : version)
  const load = Object.hasOwn(commands, name) ? commands[name] : null
  if (!load) return refuse(2, `there is no command ${args.join(' ')}. See davit --help.`)
  try {
    const command = await load()
    return await command(rest, env)
  } catch (error) {
    if (error instanceof ConfigError) return refuse(2, error.message)
    if (error instanceof UsageError) return refuse(2, `${error.message} See davit --help.`)
    if (error instanceof Failure) return refuse(1, `${error.message} ${error.hint}`)
    if (error instanceof AppError) return refuse(statusOf(error), error.message)
    journal.error('unexpected error', error)
    return refuse(1, `unexpected error: ${(error as Error).message}`)
  }
}

/** A script can log in again. */
const statusOf = ({ code }: AppError) => (code === 'unauthorized' ? 3 : 1)

/** Of Davit itself, not of a command that it is to run. */
function asksForHelp(name: string, rest: string[]) {
  const until = rest.findIndex((word) => word === '--' || (name === 'run' && !word.startsWith('-')))
  return rest.slice(0, until === -1 ? rest.length : until).includes('--help')
}

/** Read by another version, to decide whether it can upgrade to this one. */
async function describe() {
  const { knownSchema } = await import('./db/index.ts')
  return JSON.stringify({ version, schema: knownSchema() })
}

function tell(text: string) {
  print(text)
  return 0
}

function refuse(status: number, sentence: string) {
  warn(sentence)
  return status
}
