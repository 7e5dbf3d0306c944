import { z } from 'zod'
import type { Db } from '../../db/index.ts'
import { newId } from '../../db/new-id.ts'
import { targets } from '../../db/schema.ts'
import { AppError, invalidField } from '../../platform/errors.ts'
import { rowJson } from '../../resources/json.ts'
import { resource } from '../../resources/resource.ts'
import { DocTab } from '../../web/components.tsx'
import { counted } from '../../web/units.ts'
import { usersOfTarget } from '../repository.ts'
import { getPlan, hasBackupsOn, listUnfinishedOn, setTargetOfLost } from '../store.ts'
import { davitId } from '../subject.ts'
import { targetForm } from './form.ts'
import { getTarget, listTargets, openTarget, sealedOfTarget, whereOf } from './store.ts'
import type { OpenTarget, TargetRow } from './store.ts'
import { addressOf, tryOut } from './try-out.ts'
import type { TargetDeps } from './try-out.ts'

const json = rowJson('BackupTarget', targets, [
  ...(['name', 'kind', 'endpoint', 'bucket', 'region', 'accessKey'] as const),
  ...(['host', 'hostKey', 'user', 'path', 'url'] as const),
])

/** Where backups are stored. Its secrets are never returned, and the key of its repository only once. */
export const target = resource({
  ...sealedOfTarget,
  path: '/settings/targets',
  title: 'Targets',
  part: 'Backups',
  plural: 'your backup targets',
  table: targets,
  owner: targets.ownerId,
  most: 'targets',
  sentTo: ['endpoint', 'host', 'url'],
  neverSent: ['password'],
  refuse: (db, { values, ...of }) => refusePlace(db, { ...values, ...of } as OpenTarget),
  json,
  about: 'Where backups are stored, encrypted, as a restic repository each.',
  empty: 'Add one to back up services and volumes: a bucket, another server or a directory.',
  row: (row) => ({ facts: [<bdi>{whereOf(row)}</bdi>] }),
  create: {
    verb: 'Add',
    note: '; a snapshot is written, read and deleted first',
    submit: 'Try out and add',
    form: ({ config }: TargetDeps) => targetForm(config),
    schema: () => json().extend({ password: z.string() }),
    async check(deps, input, { ownerId, signal, row, changes, isToken }) {
      if (row && changes.every((name) => name === 'name')) return undefined
      const id = row?.id ?? newId()
      const fields = { ...row, ...input, id, ownerId } as OpenTarget
      // the same at each attempt: one that fails late leaves a repository there
      const made = () => deps.secrets.sign(`repository of ${ownerId} at ${whereOf(fields)}`)
      const wanted = { ...fields, password: input.password ?? made() }
      if (!wanted.user) {
        if (changes.includes('userPassword') && wanted.userPassword)
          throw invalidField('user', 'must be entered with its password.')
        wanted.userPassword = null
      }
      // another host has another key
      if (row?.host !== wanted.host && row?.hostKey === wanted.hostKey) wanted.hostKey = null
      if (isToken && getPlan(deps.db, davitId)?.targetId === id) throw ofDavit()
      refusePlace(deps.db, wanted)
      const isMoved = row && whereOf(row) !== whereOf(wanted)
      const hasKey = changes.includes('password')
      const isLeft = isMoved && hasBackupsOn(deps.db, id)
      const missing = isLeft ? notMoved(wanted) : hasKey ? noRepository() : null
      const { hostKey, lost } = await tryOut(deps, wanted, { signal, missing })
      const also = () => {
        // of one that was made while it was tried out, its repository wasn't looked for
        if (isMoved && !missing && hasBackupsOn(deps.db, id)) throw madeMeanwhile()
        setTargetOfLost(deps.db, lost ?? [], wanted)
      }
      const { userPassword, password } = wanted
      const columns = { id, password, userPassword, hostKey: hostKey ?? wanted.hostKey }
      const once = { text: password, what: 'the key', says: keepKey }
      return row ? { columns, also } : { columns, also, extra: { password }, once }
    },
    details: ({ kind }) => ({ kind }),
  },
  change: { submit: 'Try out and save' },
  acts: {
    test: {
      button: 'Test',
      note: 'Write, read and delete a snapshot on a target; a missing repository is created',
      async run(deps, c, row) {
        const { signal } = c.req.raw
        const { lost } = await tryOut(deps, openTarget(deps, row), { signal })
        const works = `${row.name} works: a snapshot was written, read and deleted.`
        if (lost === null)
          return { said: `${works} What it has couldn’t be listed: test it again.` }
        const count = isThere(deps.db, row) ? setTargetOfLost(deps.db, lost, row) : 0
        const found = `${counted(count, 'backup')} of a removed target can be used again.`
        return { said: count > 0 ? `${works} ${found}` : works }
      },
    },
  },
  remove: {
    verb: 'Remove',
    users: { list: ({ db }: TargetDeps, { id }) => usersOfTarget(db, id) },
    warning: 'What is stored there stays, but Davit can’t restore it any more without its key.',
  },
})

/** False when it was removed, or leads elsewhere, since it was read. */
function isThere(db: Db, row: TargetRow) {
  const now = getTarget(db, row)
  return now !== undefined && whereOf(now) === whereOf(row)
}

/** With Davit’s backup comes everyone’s password hash and every key, which no token may send elsewhere. */
const ofDavit = () =>
  new AppError(
    'forbidden',
    'API tokens can’t change where Davit itself is backed up. Log in in a browser.',
  )

/** Also asked before it is tried out, which may take long. */
function refusePlace(db: Db, wanted: OpenTarget) {
  const before = getTarget(db, wanted)
  if (before && whereOf(before) === whereOf(wanted)) return
  const place = normalPlace(wanted)
  const twin = listTargets(db, wanted.ownerId).find(
    (one) => one.id !== wanted.id && one.kind === wanted.kind && normalPlace(one) === place,
  )
  // two in one repository would apply their retention to each other's backups
  if (twin)
    throw invalidField(
      addressOf[wanted.kind],
      `is where your target ${twin.name} stores already. Use that one, or another directory.`,
    )
  // one that hasn’t ended would be stored where the target no longer leads
  const [backup] = before ? listUnfinishedOn(db, wanted.id) : []
  if (backup)
    throw new AppError(
      'conflict',
      `The target ${before!.name} can’t lead to another place while a backup of ${backup.subjectName} hasn’t ended. Wait until it has, or cancel it.`,
    )
}

const normalPlace = (target: OpenTarget) =>
  whereOf(target)!
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/$/, '')

const noRepository = () =>
  invalidField('password', 'is of no repository there. Leave it empty for a new one.')

const notMoved = ({ kind }: OpenTarget) =>
  invalidField(
    addressOf[kind],
    'has no copy of the repository, whose backups would be lost. Copy it there first, or add another target.',
  )

const madeMeanwhile = () =>
  new AppError('conflict', 'A backup was made to this target meanwhile. Change it again.')

const keepKey = (
  <>
    Keep this key in a safe place: without it no one can read these backups, and it is shown only
    once. With it <DocTab doc="backups#without-davit">restic reads them</DocTab>, also without
    Davit.
  </>
)
