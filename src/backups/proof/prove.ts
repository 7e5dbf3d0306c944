import type { LogWriter } from '../../logs/log-writer.ts'
import { Failure } from '../../platform/errors.ts'
import { checkRoom } from '../../runtime/check-room.ts'
import { bytes, counted } from '../../web/units.ts'
import { partLabel } from '../../docker/labels.ts'
import { recipeIn } from '../data.ts'
import type { BackupDeps } from '../deps.ts'
import { containersOf } from '../hold.ts'
import { proveOwnFile } from '../own-file.ts'
import { fileReader } from '../read-file.ts'
import { ask, differenceOf, inspect, load, sizeOf } from '../recipes/index.ts'
import type { Contents } from '../recipes/index.ts'
import { openRepository } from '../repository.ts'
import { proveDescription } from '../server/description.ts'
import type { Restic } from '../restic/restic.ts'
import { getPlan } from '../store.ts'
import type { Backup } from '../store.ts'
import { subjectOf, workloadOf } from '../subject.ts'
import { proveSqlite } from './sqlite.ts'
import { withTestServer } from './test-server.ts'

type Proving = {
  backup: Backup
  restic: Restic
  /** Rejects, and aborts the signal, unless the target has the backup. */
  described: Promise<void>
  log: LogWriter
  signal: AbortSignal
}

/**
 * Restores a backup from its target where nothing else is, and compares it with what was stored. Throws a
 * Failure when it isn't the same. Returns the rows that were counted; null without a database.
 */
export async function prove(
  deps: BackupDeps,
  { backup, log, signal: outer }: Omit<Proving, 'restic' | 'described'>,
): Promise<number | null> {
  const missing = new AbortController()
  const signal = AbortSignal.any([outer, missing.signal])
  const isOwn = backup.subjectKind === 'davit'
  const { folder } = await deps.docker.machine({ signal })
  const room = { what: 'a test restore', more: roomFor(backup) } as const
  if (isOwn) await checkRoom(deps.config.dataDir, { whose: 'Davit', ...room })
  else if (!deps.docker.remote) await checkRoom(folder, { whose: 'Docker', ...room })
  log.write('Restoring it for a test.')
  await using restic = await openRepository(deps, backup, {
    say: (line) => log.write(line),
    ...{ isUncached: true, inOne: true },
  })
  if (isOwn) return proveOwnFile(deps, { backup, restic, signal })
  const described = proveDescription(restic, backup, { signal })
  described.catch((error) => missing.abort(error))
  const proving = { backup, restic, described, log, signal }
  const rows: number[] = []
  try {
    for (const contents of backup.contents ?? [])
      rows.push(await proveDatabases(deps, proving, contents as Contents))
  } finally {
    await described // its failure says more, and it must not go on when restic’s container is removed
  }
  const accepted = getPlan(deps.db, backup.subjectId)?.acceptDamaged ?? []
  for (const { file, snapshot, bytes: size, volumes } of backup.files) {
    if (!volumes) continue
    let inFiles: number | null = null
    const found = await restic.measureVolumes({
      ...{ snapshot, signal },
      async databases(from, signal) {
        inFiles = await proveSqlite(deps, from, { ownerId: backup.ownerId, accepted, log, signal })
      },
    })
    if (found !== size) throw differs(`${file} have ${bytes(found)} in place of ${bytes(size)}`)
    log.write(`Restored ${bytes(found)} of volumes.`)
    if (inFiles !== null) rows.push(inFiles)
  }
  return rows.length > 0 ? rows.reduce((sum, one) => sum + one, 0) : null
}

/** A database of SQLite in a volume is copied to be opened, and Davit’s own file is unpacked. */
const roomFor = ({ files }: Backup) => 2 * files.reduce((sum, { bytes }) => sum + bytes, 0)

/** Loads the databases of a component into a server of its own image, which starts at once, and counts their rows. */
async function proveDatabases(
  deps: BackupDeps,
  { backup, restic, described, log, signal }: Proving,
  contents: Contents,
): Promise<number> {
  const { component: name } = contents
  const { query, ...server } = await serverOf(deps, { backup, name, signal })
  const read = fileReader(backup, restic)
  return withTestServer(deps, { ...server, signal }, async (target) => {
    const call = { ...target, signal }
    await described
    await load(deps, { ...call, contents, read })
    const found = await inspect(deps, call)
    const difference = differenceOf(contents, found)
    if (difference !== null) throw differs(difference)
    if (query && contents.databases.some((one) => one.name === query.database && one.tables.length))
      await proveAnswer(deps, { ...call, ...query }, log)
    const names = new Set(contents.databases.map((one) => one.name))
    const { tables, rows } = sizeOf(found.databases.filter((one) => names.has(one.name)))
    log.write(`Restored ${name}: ${counted(tables, 'table')}, ${counted(rows, 'row')}, as stored.`)
    return rows
  })
}

/** As it runs now: the same image, and the variables that a first start reads. */
async function serverOf(
  deps: BackupDeps,
  { backup, name, signal }: { backup: Backup; name: string; signal: AbortSignal },
) {
  const { ownerId } = backup
  const subject = subjectOf(deps.db, backup)
  const workload = subject && workloadOf(subject)
  if (!workload) throw nothingLike(name)
  const { components, recipe } = await recipeIn(deps, { subject, workload })
  const component = components.find((one) => one.name === name)
  const source = recipe.databases.find((one) => one.component === name)
  if (!component || !source) throw nothingLike(name)
  const containers = await containersOf(deps, workload, { signal })
  const own = containers.filter(({ labels }) => labels[partLabel] === name)
  const one = own.find(({ state }) => state === 'running') ?? own[0]
  // Davit’s own server may know the image by another id than that on which it runs
  const isHere = one?.serverId === deps.docker.serverId
  const image = isHere ? one.imageId : component.options.image
  return { component, source, ownerId, image, query: recipe.queries[name] }
}

/** What a template asks must be more than nothing. */
async function proveAnswer(deps: BackupDeps, call: Parameters<typeof ask>[1], log: LogWriter) {
  const { component } = call.source
  const answer = await ask(deps, call).catch((error) => {
    const isRefused = error instanceof Failure && error.code === 'dump_failed'
    throw isRefused ? noAnswer(component, error.message) : error
  })
  if (/^(|0|f|false|null)$/i.test(answer)) throw noAnswer(component, answer || 'nothing')
  log.write(`The template’s query of ${component} selected ${answer.slice(0, 200)}.`)
}

const differs = (difference: string) =>
  new Failure(
    'proof_differs',
    `What was restored isn’t what was stored: ${difference}.`,
    'Don’t rely on this backup. Back up again; if that can’t be restored either, try another target.',
  )

const noAnswer = (component: string, answer: string) =>
  new Failure(
    'proof_query',
    `The template’s query, run on what was restored of ${component}, failed or selected nothing: ${answer}`,
    'See whether the service itself works. If it does, its x-davit.backup.queries is wrong.',
  )

const nothingLike = (component: string) =>
  new Failure(
    'proof_no_server',
    `Nothing like ${component} runs any more, so its dump has no server to be restored into.`,
    'Restore it into a new service to try it.',
  )
