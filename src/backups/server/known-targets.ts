import type { Db } from '../../db/index.ts'
import type { StoredFile } from '../../db/schema.ts'
import { Failure } from '../../platform/errors.ts'
import { openRestic } from '../restic/restic.ts'
import type { ResticDeps, Restic, StoredSnapshot } from '../restic/restic.ts'
import { getBackup, hasBackupsOn, listOn, listPlansOn, setBackup } from '../store.ts'
import { davitId, findSubject } from '../subject.ts'
import { openTarget, whereOf } from '../targets/store.ts'
import type { OpenTarget, TargetRow } from '../targets/store.ts'
import { hasDescription, readDescription } from './description.ts'
import { getTargetById, importBackup, listAllTargets, listSubjects, setPlace } from './store.ts'

export type Filling = {
  /** The repository that was named, and the backup of Davit in it that was read. */
  repository: { place: OpenTarget; backup: string; stored: StoredFile[] }
  /** The id of the installation that was restored. */
  installation: string
  until: Date
  without: string[]
  /** Volumes that a restore left, which one that isn’t dry has removed. */
  halfFilled: ReadonlySet<string>
  isDry: boolean
  say: (line: string) => void
  signal: AbortSignal
}

type OpenedTarget = {
  restic: Restic
  /** Ids of all that it has backups of, also of those that can’t be read, or were made later. */
  subjects: ReadonlySet<string>
}

/**
 * Opens the repository of each target that backups lie on, by the secrets that were restored, and brings the list
 * of backups up to date with what they have. The one that was named is used as it was named, from now on too.
 */
export async function openTargets(
  deps: ResticDeps,
  filling: Filling,
): Promise<Map<string, OpenedTarget>> {
  const { db } = deps
  const { without, repository, signal } = filling
  const named = namedIn(db, repository)
  const found = new Map<string, OpenedTarget>()
  for (const row of listAllTargets(db)) {
    const isNamed = row.id === named
    if (!isNamed && !isUsed(db, row.id)) continue
    if (!isNamed && without.includes(row.name)) continue
    try {
      const target = isNamed ? usePlace(deps, filling, row) : openTarget(deps, row)
      const restic = openRestic(deps, { ...target, id: isNamed ? 'given' : target.id })
      const listed = await restic.list({ signal })
      await learn(deps, filling, { row, restic, listed })
      found.set(row.id, {
        restic,
        subjects: new Set(listed.map(({ tags }) => idIn(tags, 'subject'))),
      })
    } catch (error) {
      if (!(error instanceof Failure) || isNamed || signal.aborted) throw error
      throw new Failure(
        error.code,
        `The target ${row.name} can’t be used: ${error.message}`,
        `${error.hint} Or restore without what lies there: --without ${row.name}.`,
        { cause: error },
      )
    }
  }
  return found
}

/** Those that can be left out. */
export const listOthers = (db: Db, { repository }: Pick<Filling, 'repository'>) =>
  listAllTargets(db).filter(({ id }) => id !== namedIn(db, repository) && isUsed(db, id))

const namedIn = (db: Db, { backup }: Filling['repository']) => getBackup(db, backup)?.targetId

const isUsed = (db: Db, id: string) => hasBackupsOn(db, id) || listPlansOn(db, id).length > 0

function usePlace(
  { db, secrets }: ResticDeps,
  { repository: { place, backup, stored }, say }: Filling,
  row: TargetRow,
): OpenTarget {
  const { password: _, ...fields } = place
  setPlace(db, { secrets, row, place: fields })
  const bytes = stored.reduce((sum, file) => sum + file.bytes, 0)
  setBackup(db, backup, { status: 'succeeded', ...noError, files: stored, bytes })
  if (whereOf(row) !== whereOf(place)) say(`The target ${row.name} now leads to ${whereOf(place)}.`)
  return { ...openTarget({ db, secrets }, getTargetById(db, row.id)!), password: place.password }
}

const noError = { errorCode: null, errorMessage: null, errorHint: null }

type KnownTarget = { row: TargetRow; restic: Restic; listed: StoredSnapshot[] }

/** Marks backups that aren’t there any more, and stores those that were made since: of each subject the newest. */
async function learn(deps: ResticDeps, filling: Filling, { row, restic, listed }: KnownTarget) {
  const { db } = deps
  const { until, say, signal } = filling
  const there = new Set(listed.map(({ id }) => id))
  for (const subjectId of [davitId, ...listSubjects(db).map(({ id }) => id)])
    for (const { id, status, files } of listOn(db, { subjectId, targetId: row.id }))
      if (status === 'succeeded' && !files.every(({ snapshot }) => there.has(snapshot)))
        setBackup(db, id, { goneAt: new Date() })
  const seen = new Set([davitId])
  const newestFirst = listed.filter((one) => hasDescription(one) && one.at <= until).toReversed()
  for (const { id: snapshot, tags } of newestFirst) {
    const subjectId = idIn(tags, 'subject')
    if (seen.has(subjectId)) continue
    seen.add(subjectId)
    if (getBackup(db, idIn(tags, 'backup'))?.status === 'succeeded') continue
    const described = await readDescription(restic, { snapshot, listed, signal })
    const subject =
      described && findSubject(db, { kind: described.subjectKind, id: subjectId, ownerId: '' })
    const isIts = described?.subjectId === subjectId && described.id === idIn(tags, 'backup')
    if (!described || !isIts)
      say(`The backup ${idIn(tags, 'backup')} can’t be read: a newer Davit may have made it.`)
    else if (subject?.ownerId !== row.ownerId)
      say(
        `${described.subjectName}: isn’t restored, as it is newer than the backup of Davit. Its backup stays on the target.`,
      )
    else
      importBackup(db, {
        ...{ ...described, targetId: row.id, ownerId: subject.ownerId },
        status: 'succeeded',
        ...noError,
      })
  }
}

/** By a tag of a snapshot. */
export const idIn = (tags: string[], name: string) =>
  tags.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
