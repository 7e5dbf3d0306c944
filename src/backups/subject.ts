import type { Tx } from '../db/index.ts'
import type { backupSubjects } from '../db/schema.ts'
import { getEnvironmentIn } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { Failure } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import type { Workload } from '../runtime/workload.ts'
import { getService } from '../services/store.ts'
import type { Service } from '../services/store.ts'

export type SubjectKind = (typeof backupSubjects)[number]
export type SubjectKey = { kind: SubjectKind; id: string }

/** Such as a backup or a plan. */
type OfSubject = { subjectKind: SubjectKind; subjectId: string }

/** What is backed up. */
export type Subject = { id: string; name: string; ownerId: string } & (
  | { kind: 'service'; service: Service }
  | { kind: 'environment'; environment: Environment; project: Project }
  | { kind: 'davit' }
)

export const davitId = 'davit'

export const ofService = (service: Service) => ({
  ...{ kind: 'service' as const, id: service.id, name: service.name, ownerId: service.ownerId },
  service,
})

export const ofEnvironment = (of: { environment: Environment; project: Project }) => ({
  ...{ kind: 'environment' as const, id: of.environment.id, ownerId: of.project.ownerId },
  name: `${of.project.name} ${of.environment.name}`,
  ...of,
})

/** Of an admin, to whose target it goes. */
export const ofDavit = (ownerId: string): Subject => ({
  ...{ kind: 'davit', id: davitId, name: 'Davit', ownerId },
})

/** Undefined once it was deleted, or is being deleted. */
export function findSubject(
  db: Tx,
  { kind, id, ownerId }: SubjectKey & { ownerId: string },
): Subject | undefined {
  if (kind === 'davit') return ofDavit(ownerId)
  if (kind === 'service') {
    const service = getService(db, id)
    return service && !service.deletingAt ? ofService(service) : undefined
  }
  const found = getEnvironmentIn(db, id)
  const isThere = found && !found.environment.deletingAt && !found.project.deletingAt
  return isThere ? ofEnvironment(found) : undefined
}

export const keyOf = ({ subjectKind: kind, subjectId: id }: OfSubject): SubjectKey => ({ kind, id })

export const subjectOf = (db: Tx, of: OfSubject & { ownerId: string }) =>
  findSubject(db, { ...keyOf(of), ownerId: of.ownerId })

/** What runs it; null for Davit. */
export function workloadOf(subject: Subject): Workload | null {
  const { id, ownerId } = subject
  if (subject.kind === 'service') return { id, ownerId, kind: 'service' }
  if (subject.kind === 'davit') return null
  return { id, ownerId, kind: 'app', projectId: subject.project.id }
}

/** Hides its secrets in a log. */
export const maskOf = ({ masks }: { masks: Masks }, { subjectKind, subjectId }: OfSubject) =>
  subjectKind === 'davit' ? nothingHidden : masks.of(subjectId)

/** It may quote what a tool said, and goes where no log does. */
export const maskedBy = ({ mask: { mask } }: LogWriter, { code, message, hint }: Failure) =>
  new Failure(code, mask(message), hint)

/** The page that lists its backups. */
export const backupsPath = ({ kind, id }: SubjectKey) =>
  kind === 'davit'
    ? '/settings/backups'
    : kind === 'service'
      ? `/services/${id}/backups`
      : `/envs/${id}/backups`
