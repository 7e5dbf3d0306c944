import { deploymentPath, refTitle } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { CommitRef, Fact, PulledRef, UploadRef } from '../web/components.tsx'
import { Person } from '../web/person.tsx'
import { Ago, duration } from '../web/times.tsx'
import type { Origin } from './overview-store.ts'
import { isEnded, pulledOf } from './store.ts'
import type { Deployment } from './store.ts'

type Props = {
  project: Project
  deployment: Deployment
  /** Whose image it runs; null for its own, or if that was deleted. */
  origin: Origin | null
}

/** What it deploys, and why. */
export const Facts = ({
  deployment,
  project,
  origin,
}: Pick<Props, 'deployment' | 'project' | 'origin'>) => (
  <dl class="facts in-line">
    {deployment.pullReference ? (
      <Fact name="Image">
        <PulledRef {...pulledOf(deployment)!} copied />
      </Fact>
    ) : (
      <SourceFacts {...{ deployment, project }} />
    )}
    <Fact name={isUploaded(deployment) ? 'Uploaded by' : triggers[deployment.trigger]}>
      <Person email={deployment.triggeredBy} />, <Ago at={deployment.createdAt} />
    </Fact>
    {origin && (
      <Fact name={deployment.trigger === 'promotion' ? 'Promoted from' : 'Image of'}>
        <a href={deploymentPath(origin)}>
          <bdi>{origin.environment}</bdi> #{origin.number}
        </a>
      </Fact>
    )}
    {deployment.downtimeMs !== null && (
      <Fact name="Switched over">{downtime(deployment.downtimeMs)}</Fact>
    )}
  </dl>
)

const SourceFacts = ({ deployment, project }: Pick<Props, 'deployment' | 'project'>) => (
  <>
    <Fact name={deployment.upload ? 'Files' : 'Commit'}>
      {deployment.upload ? (
        <UploadRef {...deployment.upload} />
      ) : deployment.commitHash ? (
        <CommitRef
          hash={deployment.commitHash}
          message={deployment.commitMessage}
          author={deployment.commitAuthor}
          copied
        />
      ) : (
        <span class="muted">
          {deployment.requestedCommit?.slice(0, 7) ??
            (isEnded(deployment.status) ? 'not found' : 'not known yet')}
        </span>
      )}
    </Fact>
    {(deployment.branch !== null || !deployment.upload) && (
      <Fact name={refTitle(deployment)}>
        <bdi>{deployment.branch ?? project.branch ?? 'the default one'}</bdi>
      </Fact>
    )}
  </>
)

const isUploaded = ({ upload, trigger }: Deployment) => upload !== null && trigger === 'api'

const triggers: Record<Deployment['trigger'], string> = {
  manual: 'Started by',
  webhook: 'Pushed by',
  image: 'New image of',
  rollback: 'Rolled back by',
  promotion: 'Promoted by',
  api: 'Started by (API)',
}

const downtime = (ms: number) => (ms === 0 ? 'without a gap' : `no response for ${duration(ms)}`)
