import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Abortable, Engine } from './engine.ts'
import { detachKeys, follow } from './attach.ts'
import type { Attached } from './attach.ts'
import { exitCodeOf, runInContainer } from './exec.ts'
import { EngineError, isContainerGone } from './failures.ts'
import { thisProcess } from './labels.ts'
import { orNull } from './refusals.ts'

/** A shell in a container, with its own terminal. Closing it ends the shell and everything it started. */
export type Terminal = Attached & {
  /** Exit code of the shell, which must have ended; null when its container was removed. */
  exitCode(): Promise<number | null>
}

/**
 * The first line is the shell's process id within the container, by which the terminal is closed: the engine
 * lets a command continue when its connection ends. The variable says which process of Davit opened it, for
 * the next one.
 */
const shell =
  'echo $$; export TERM=xterm-256color LANG="${LANG:-C.UTF-8}" DAVIT_OPENED_BY="$1"; ' +
  'command -v bash >/dev/null 2>&1 && exec bash; exec sh'

/** The engine shows the shell's arguments: its name, and the process that opened it. */
const shellName = 'davit-terminal'

/** Signals every process of session $1 by $2, and prints their ids. It needs nothing but a shell. */
const signalSession = `
session=$1 signal=$2 ids=
for stat in /proc/[0-9]*/stat; do
  { read -r line <"$stat"; } 2>/dev/null || continue
  set -- \${line##*) }
  [ "$4" = "$session" ] && [ "$1" != Z ] && ids="$ids \${line%% *}"
done
[ -z "$ids" ] && exit
kill -s "$signal" $ids 2>/dev/null
kill -s CONT $ids 2>/dev/null
echo $ids`

/** Prints the ids of the shells that $1 opened: processes started by the engine have no parent there. */
const findShells = `
for process in /proc/[0-9]*; do
  { read -r line <"$process/stat"; } 2>/dev/null || continue
  case "$(cat "$process/environ")" in *"DAVIT_OPENED_BY=$1"*) ;; *) continue ;; esac
  set -- "$1" \${line##*) }
  [ "$3" = 0 ] && echo "\${process#/proc/}"
  set -- "$1"
done 2>/dev/null
:`

/** Milliseconds that programs have to exit when their terminal is closed. */
const grace = 1000

/** Milliseconds for closing it in total. */
const closeLimit = 15_000

/** Bytes of the first line, or of the error message instead of it. */
const maxFirstLine = 4096

/**
 * Starts bash, or sh if there is none, as the container's user. Aborting disconnects; `close` must still be
 * called. Throws an EngineError: with status 404 or 409 when the container doesn't run, with 422 when it has
 * no shell.
 */
export async function openTerminal(
  engine: Engine,
  id: string,
  { signal }: Abortable = {},
): Promise<Terminal> {
  const attached = { AttachStdin: true, AttachStdout: true, AttachStderr: true }
  const command = ['sh', '-c', shell, shellName, thisProcess]
  const body = { Cmd: command, Tty: true, ...attached, DetachKeys: detachKeys }
  const path = `/containers/${encodeURIComponent(id)}/exec`
  const { Id: exec } = await engine.request<{ Id: string }>('POST', path, { body })
  // without the signal: a shell that starts when no one waits for its first line couldn't be ended
  const started = { body: { Detach: false, Tty: true } }
  const connection = await engine.hijack(`/exec/${exec}/start`, started)
  connection.on('error', () => {}) // the reader gets the error
  const { line, rest } = await readFirstLine(connection)
  if (!/^\d+$/.test(line)) {
    connection.destroy()
    throw new EngineError(422, line || 'The shell ended at once')
  }
  if (signal?.aborted) connection.destroy()
  signal?.addEventListener('abort', () => connection.destroy(), { once: true })

  return {
    output: follow(connection, rest),
    write: (input, taken) => void connection.write(input, (error) => error ?? taken()),
    resize: ({ columns, rows }) =>
      engine.request('POST', `/exec/${exec}/resize`, { query: { w: columns, h: rows } }),
    exitCode: () => orNull(exitCodeOf(engine, exec, undefined)),
    async close() {
      connection.destroy()
      await endSession(engine, id, line)
    },
  }
}

async function readFirstLine(connection: Duplex) {
  let read = Buffer.alloc(0)
  for await (const chunk of connection.iterator({ destroyOnReturn: false })) {
    read = Buffer.concat([read, chunk as Uint8Array])
    if (read.includes('\n') || read.length > maxFirstLine) break
  }
  const end = read.indexOf('\n')
  const line = read.subarray(0, end < 0 ? maxFirstLine : end).toString()
  return { line: line.trim(), rest: read.subarray(end + 1) }
}

type InspectedExec = { Running: boolean; ProcessConfig: { arguments: string[] | null } }

/** Ends the shells that a killed Davit left open in a container. */
export async function endLeftTerminals(
  engine: Engine,
  id: string,
  { signal }: Abortable = {},
): Promise<void> {
  const path = `/containers/${encodeURIComponent(id)}/json`
  type Inspected = { ExecIDs: string[] | null }
  const found = await orNull(engine.request<Inspected>('GET', path, { signal }))
  const left = new Set<string>()
  for (const exec of found?.ExecIDs ?? []) {
    const inspected = await orNull(
      engine.request<InspectedExec>('GET', `/exec/${exec}/json`, { signal }),
    )
    const [name, openedBy] = inspected?.ProcessConfig.arguments?.slice(-2) ?? []
    if (inspected?.Running && name === shellName && openedBy !== thisProcess) left.add(openedBy!)
  }
  for (const openedBy of left) {
    const command = ['sh', '-c', findShells, 'sh', openedBy]
    const { output } = await runInContainer(engine, id, { command, signal })
    for (const leader of output.match(/^\d+$/gm) ?? []) await endSession(engine, id, leader)
  }
}

async function endSession(engine: Engine, container: string, leader: string) {
  const signal = AbortSignal.timeout(closeLimit)
  for (const name of ['HUP', 'KILL']) {
    const command = ['sh', '-c', signalSession, 'sh', leader, name]
    try {
      const { output } = await runInContainer(engine, container, { command, signal })
      if (output === '') return
    } catch (error) {
      if (isContainerGone(error)) return // everything ended with the container
      throw error
    }
    if (name === 'HUP') await sleep(grace)
  }
}
