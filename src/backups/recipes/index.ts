import type { Writable } from 'node:stream'
import { report } from '../../platform/journal.ts'
import { fileOf, refuseNewer } from './contents.ts'
import type { Contents, DatabaseContents } from './contents.ts'
import type { Engine } from './engine.ts'
import { mongodb } from './mongodb.ts'
import { mysql } from './mysql.ts'
import { postgresql } from './postgresql.ts'
import { redis } from './redis.ts'
import type { BackupEngine } from '../../services/compose/declaration.ts'
import { linesOf, marked, passOn, runTool, splitHead, textOf, withTools } from './tool.ts'
import type { Target, Tool, ToolDeps } from './tool.ts'

export { differenceOf, refuseNewer, sizeOf } from './contents.ts'
export type { Contents } from './contents.ts'
export { recipeOf, renamedImages } from './recipe.ts'
export type { Folders } from './recipe.ts'
export { toolsOf } from './tool.ts'
export type { Source, Target } from './tool.ts'

/** Bytes of what is counted last. */
const maxCounts = 2 ** 20

const isCount = (line: string) => /^\[".*",\d+\]$/.test(line)

/** In milliseconds. */
const undoTimeout = 60_000

type Call = Target & { signal: AbortSignal }
type Open = Call & Pick<Tool, 'tools'>

export type DumpFile = {
  name: string
  /** Doesn't end the stream, and rejects when the file isn't whole. */
  write: (to: Writable, signal: AbortSignal) => Promise<void>
}

type Dump = Call & { each: EachFile }

/** Called for two files at once at most, one of which is small. */
export type EachFile = (file: DumpFile, signal: AbortSignal) => Promise<void>

type Load = Call & {
  contents: Contents
  /** By default all. */
  database?: string | undefined
  /** Writes a file of the dump, without ending the stream. */
  read: (file: string, to: Writable, signal: AbortSignal) => Promise<void>
}

const engines: Record<BackupEngine, Engine> = { postgresql, mysql, redis, mongodb }

const engineOf = ({ source }: Target) => engines[source.engine]

/** With the folders that its server keeps files of its own in. */
type Dumped = Contents & { folders: string[] }

/** Dumps all databases of a server, each in one snapshot, and returns what was counted in it. */
export const dump = (deps: ToolDeps, { each, ...call }: Dump): Promise<Dumped> =>
  withTools(deps, call, (open) => dumpAll(deps, { ...open, each }))

async function dumpAll(deps: ToolDeps, { each, ...call }: Dump & Open): Promise<Dumped> {
  const engine = engineOf(call)
  const { small, ...contents } = await serverOf(deps, call)
  const dumpRoles = async ({ signal, heard }: Side) => {
    if (!engine.roles) return
    const script = `{ ${engine.roles.dump}\n} ${marked}`
    const roles: DumpFile = {
      name: contents.roles!.file,
      write: async (to, signal) =>
        void (await heard(
          runTool(deps, {
            ...{ ...call, script, env: engine.env?.() ?? {}, signal, isMarked: true },
            stdout: (from) => heard(passOn(from, { to, signal })),
          }),
        )),
    }
    await each(roles, signal)
  }
  const dumpOne = async (database: DatabaseContents, { signal, heard }: Side) => {
    let counted: unknown[] = []
    const file: DumpFile = {
      name: database.file,
      async write(to, signal) {
        const script = `{ ${engine.database.dump}\n} ${marked}`
        const last = await heard(
          runTool(deps, {
            ...{ ...call, script, env: envOf(engine, database), signal },
            ...{ isMarked: true, maxStderr: maxCounts },
            async stdout(from) {
              counted = await heard(splitHead(from, { to, signal }))
            },
          }),
        )
        counted.push(
          ...last.split('\n').flatMap((line) => (isCount(line) ? [JSON.parse(line)] : [])),
        )
      },
    }
    await each(file, signal)
    return { ...database, ...engine.toDatabase(counted) }
  }
  const dumped = new Map<string, DatabaseContents>()
  const dumpThose = async (isSmall: boolean, side: Side) => {
    for (const one of contents.databases)
      if (small.has(one.name) === isSmall) dumped.set(one.name, await dumpOne(one, side))
  }
  await sideBySide(call.signal, [
    (side) => dumpThose(false, side),
    (side) => dumpRoles(side).then(() => dumpThose(true, side)),
  ])
  const databases = contents.databases.map(({ name }) => dumped.get(name)!)
  return { ...contents, databases }
}

type Side = {
  signal: AbortSignal
  /** Passes on a promise, and whether it is rejected: its container ends then, which the other side works in, too. */
  heard: <T>(work: Promise<T>) => Promise<T>
}

/** Ends all when one fails, and throws what the first one failed with. */
async function sideBySide(outer: AbortSignal, works: ((side: Side) => Promise<unknown>)[]) {
  const stop = new AbortController()
  const signal = AbortSignal.any([outer, stop.signal])
  let first: number | undefined
  const ended = await Promise.allSettled(
    works.map((work, index) => {
      const heard: Side['heard'] = (work) =>
        work.catch((error) => {
          first ??= index
          throw error
        })
      return heard(work({ signal, heard })).catch((error) => {
        stop.abort(error)
        throw error
      })
    }),
  )
  outer.throwIfAborted()
  if (first !== undefined) await Promise.reject((ended[first] as PromiseRejectedResult).reason)
}

/** What a server has now. It reads all of its rows. */
export const inspect = (deps: ToolDeps, call: Call): Promise<Contents> =>
  withTools(deps, call, async (open) => {
    const engine = engineOf(open)
    const { small: _, folders: __, ...contents } = await serverOf(deps, open)
    for (const [index, database] of contents.databases.entries()) {
      const script = engine.database.count
      const counted = await linesOf(deps, { ...open, script, env: envOf(engine, database) })
      contents.databases[index] = { ...database, ...engine.toDatabase(counted) }
    }
    return contents
  })

/** The first line of what a database selects. Ask a copy, never what runs. */
export const ask = (
  deps: ToolDeps,
  { database: name, sql, ...call }: Call & { database: string; sql: string },
) =>
  withTools(deps, call, async (open) => {
    const engine = engineOf(open)
    const env = { ...envOf(engine, { name }), DAVIT_QUERY: sql }
    const text = await textOf(deps, { ...open, script: engine.database.query ?? '', env })
    return text.split('\n', 1)[0]!.trim()
  })

/** Its version, and the folders that it keeps files of its own in. */
export const describeServer = (deps: ToolDeps, call: Call) =>
  withTools(deps, call, async (open) => {
    const { version, folders } = await serverOf(deps, open)
    return { version, folders }
  })

/** The files that `load` reads once the old data is removed; none of an engine that loads them beside it. */
export function filesOverErased({
  source,
  contents,
  ...which
}: Pick<Target, 'source'> & Pick<Load, 'contents' | 'database'>): string[] {
  if (!engines[source.engine].database.erases) return []
  const files = chosen(contents, which).map(({ file }) => file)
  return contents.roles ? [...files, contents.roles.file] : files
}

/** True when what ends a `load` may leave a database incomplete, or only some of them replaced. */
export const mayEndInPart = ({
  source,
  contents,
  ...which
}: Pick<Target, 'source'> & Pick<Load, 'contents' | 'database'>) =>
  engines[source.engine].database.erases === true || chosen(contents, which).length > 1

/** Replaces the databases of a dump in a server that runs, or creates them; others stay as they are. */
export const load = (deps: ToolDeps, { contents, database, read, ...call }: Load): Promise<void> =>
  withTools(deps, call, async (open) => {
    const engine = engineOf(open)
    refuseNewer(contents, await serverOf(deps, open))
    const loadRoles = async () => {
      if (!engine.roles || !contents.roles) return
      const { file } = contents.roles
      const env = engine.env?.() ?? {}
      const stdin = (to: Writable, signal: AbortSignal) => read(file, to, signal)
      await runTool(deps, { ...open, script: engine.roles.load, env, stdin })
    }
    if (!engine.roles?.isLast) await loadRoles()
    for (const one of chosen(contents, { database }))
      await loadOne(deps, {
        ...{ ...open, script: engine.database.load, env: envOf(engine, one) },
        stdin: (to, signal) => read(one.file, to, signal),
      })
    if (engine.roles?.isLast) await loadRoles()
  })

/** To be awaited after a `load`, before its server is stopped or restarted. */
export const settled = (deps: ToolDeps, call: Call): Promise<void> =>
  withTools(deps, call, async (open) => {
    const { settle: script } = engineOf(open).database
    if (script !== undefined) await textOf(deps, { ...open, script })
  })

/** Puts right what a `load` has left in a server that runs, when Davit’s end was its end. */
export const undoLoad = (deps: ToolDeps, { contents, database, ...call }: Omit<Load, 'read'>) =>
  withTools(deps, call, async (open) => {
    const engine = engineOf(open)
    const { undo: script } = engine.database
    if (script === undefined) return
    for (const one of chosen(contents, { database }))
      await runTool(deps, { ...open, script, env: envOf(engine, one) })
  })

const chosen = ({ databases }: Contents, { database }: Pick<Load, 'database'>) =>
  databases.filter(({ name }) => database === undefined || name === database)

async function loadOne(deps: ToolDeps, tool: Tool) {
  const { undo } = engineOf(tool).database
  try {
    await runTool(deps, tool)
  } catch (error) {
    const { stdin: _, ...rest } = tool
    await tool.tools[Symbol.asyncDispose]() // with what it has started
    const signal = AbortSignal.timeout(undoTimeout)
    if (undo)
      await runTool(deps, { ...rest, script: undo, signal }).catch((error) =>
        report('a load that failed isn’t cleaned up', error, { container: tool.containerId }),
      )
    throw error
  }
}

const envOf = (
  { env }: Engine,
  database: Pick<DatabaseContents, 'name' | 'create' | 'extensions'>,
) => ({
  DAVIT_DATABASE: database.name,
  ...env?.(database),
})

/** Its version and the names of its databases and roles, with nothing counted. */
async function serverOf(deps: ToolDeps, call: Open): Promise<Dumped & { small: Set<string> }> {
  const { component, engine } = call.source
  const { server, roles, ending, env } = engineOf(call)
  type Line = {
    version?: string
    database?: string
    isSmall?: boolean | null
    role?: string
    folder?: string
  }
  const lines = await linesOf<Line>(deps, { ...call, script: server, env: env?.() ?? {} })
  return {
    small: new Set(lines.flatMap(({ database, isSmall }) => (isSmall ? database! : []))),
    folders: lines.flatMap(({ folder }) => folder ?? []),
    ...{ component, engine, version: lines.flatMap(({ version }) => version ?? [])[0] ?? '' },
    databases: lines.flatMap(({ database: name }) =>
      name === undefined ? [] : { name, file: fileOf(component, name, ending), tables: [] },
    ),
    ...(roles && {
      roles: {
        file: `${component}-roles.${roles.ending}`, // in its folder could be a database of that name
        names: lines.flatMap(({ role }) => role ?? []),
      },
    }),
  }
}
