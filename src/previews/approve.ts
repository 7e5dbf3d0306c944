import type { Db } from '../db/index.ts'
import type { Deployment } from '../deployments/store.ts'
import { enqueue } from '../deployments/trigger.ts'
import { getPreview, updatePreview } from '../environments/preview-store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { previewSettings, whyFull } from './settings.ts'

type Approval = {
  project: Project
  environment: Environment
  commit: string
  by: Pick<Deployment, 'trigger' | 'triggeredBy'>
}

/** Deploys exactly this commit. Call it in a transaction. */
export function approve(db: Db, { project, environment, commit, by }: Approval) {
  const preview = getPreview(db, environment.id)
  if (!preview?.isFork)
    throw new AppError('conflict', `${environment.name} is of no fork, so it needs no approval.`)
  const { enabled, forks } = previewSettings(project)
  if (!enabled || forks === 'never')
    throw new AppError('conflict', 'Previews of forks are off for this project.')
  if (preview.headCommit !== commit)
    throw conflictField(
      'commit',
      `isn’t the newest one, which is ${preview.headCommit}. Read that, then approve it.`,
    )
  if (preview.approvedCommit === commit)
    throw conflictField('commit', 'is approved already. Deploy it.')
  const full = preview.approvedCommit === null ? whyFull(db, { project, unapproved: false }) : null
  if (full !== null) throw new AppError('conflict', full)
  updatePreview(db, environment.id, { approvedCommit: commit })
  return enqueue(db, { project, environmentId: environment.id, ...by })
}
