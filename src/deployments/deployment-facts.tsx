import type { UnwatchedReason } from '../db/schema.ts'
import { deploymentPath, refTitle } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { CommitRef, Fact, PulledRef, UploadRef } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { Person } from '../web/person.tsx'
import { Ago, At, In } from '../web/times.tsx'
import { duration } from '../web/units.ts'
import { checksInWords } from './checks.ts'
import type { Origin } from './overview-store.ts'
import { VersionFields } from './row-menu.tsx'
import { isLive } from './rollback.ts'
import { isEnded, pulledOf } from './store.ts'
import type { Deployment } from './store.ts'

type Props = {
  project: Project
  deployment: Deployment
  /** Whose image it runs; null for its own, or if that was deleted. */
  origin: Origin | null
}

export const Facts = ({
  deployment,
  project,
  origin,
}: Pick<Props, 'deployment' | 'project' | 'origin'>) => (
  <dl class="facts in-line">
    <SourceFacts {...{ deployment, project }} />
    <Fact name={isUploaded(deployment) ? 'Uploaded by' : triggers[deployment.trigger]}>
      <Person email={deployment.triggeredBy} />, <Ago at={deployment.createdAt} />
    </Fact>
    {deployment.plannedAt && (
      <Fact name="Planned for">
        <At at={deployment.plannedAt} />
      </Fact>
    )}
    {deployment.freeze && deployment.status !== 'waiting' && (
      <Fact name={deployment.freeze.note ? 'Deployed in a freeze' : 'Waited for a freeze'}>
        <bdi>{deployment.freeze.note ?? deployment.freeze.reason}</bdi>
      </Fact>
    )}
    {deployment.checks && deployment.status !== 'waiting' && (
      <Fact name="Checks">{checksInWords(deployment.checks)}</Fact>
    )}
    {origin && (
      <Fact name={deployment.trigger === 'promotion' ? 'Promoted from' : 'Image of'}>
        <a href={deploymentPath(origin)}>
          <bdi>{origin.environment}</bdi> #{origin.number}
        </a>
      </Fact>
    )}
    {deployment.unwatched && <Fact name="Not watched">{unwatched[deployment.unwatched]}</Fact>}
    {deployment.downtimeMs !== null && (
      <Fact name="Downtime">{downtime(deployment.downtimeMs)}</Fact>
    )}
  </dl>
)

/** What is deployed: an image, files, or a commit of a branch or a tag. Of what is live, only what is known. */
export const SourceFacts = ({ deployment, project }: Pick<Props, 'deployment' | 'project'>) => {
  if (deployment.pullReference)
    return (
      <Fact name="Image">
        <PulledRef {...pulledOf(deployment)!} copied />
      </Fact>
    )
  const { upload, commitHash, branch } = deployment
  const withUnknown = !isLive(deployment)
  return (
    <>
      {(upload || commitHash || withUnknown) && (
        <Fact name={upload ? 'Files' : 'Commit'}>
          {upload ? (
            <UploadRef {...upload} />
          ) : commitHash ? (
            <CommitRef
              hash={commitHash}
              message={deployment.commitMessage}
              author={deployment.commitAuthor}
              copied
            />
          ) : (
            <span class="muted">
              {deployment.requestedCommit?.slice(0, 7) ?? withoutCommit(deployment.status)}
            </span>
          )}
        </Fact>
      )}
      {(branch !== null || (!upload && withUnknown)) && (
        <Fact name={refTitle(deployment)}>
          <bdi>{branch ?? project.branch ?? 'the default one'}</bdi>
        </Fact>
      )}
    </>
  )
}

/** What failed may have looked for one in vain. */
const withoutCommit = (status: Deployment['status']) =>
  status === 'failed' ? 'not found' : isEnded(status) ? 'unknown' : 'not known yet'

const isUploaded = ({ upload, trigger }: Deployment) => upload !== null && trigger === 'api'

const triggers: Record<Deployment['trigger'], string> = {
  manual: 'Started by',
  webhook: 'Pushed by',
  image: 'New image of',
  rollback: 'Rolled back by',
  promotion: 'Promoted by',
  api: 'Started by (API)',
}

const unwatched: Record<UnwatchedReason, string> = {
  off: 'its time is 0',
  worker: 'it takes no requests',
  compose: 'it is of a Compose file',
  processes: 'it has processes besides web',
  'own-port': 'it has a host port of its own',
  'no-edge': 'domains are off',
  first: 'no version ran before it',
  'stop-first': 'the version before stopped first',
}

const downtime = (ms: number) => (ms === 0 ? 'none' : duration(ms))

/** Why a deployment waits, and until when. */
export const WaitingNote = ({ deployment, project }: Pick<Props, 'deployment' | 'project'>) => {
  const { projectId, environmentId, requestedCommit, checks, waitUntil, freeze } = deployment
  const isHeld = waitUntil === null && freeze !== null
  return (
    <section class="note pending" aria-labelledby="waiting-heading">
      <h2 id="waiting-heading">
        Waits for the {isHeld ? 'end of a freeze' : 'checks of its commit'}
      </h2>
      {isHeld ? (
        <p>
          Until <At at={new Date(freeze.until)} />: <bdi>{freeze.reason}</bdi>
        </p>
      ) : (
        <p dir="auto">{checks ? checksInWords(checks) : 'The provider is being asked.'}</p>
      )}
      <p class="muted">
        {isHeld
          ? 'It is deployed then'
          : 'It is deployed when all have passed, and fails when one of them does'}
        {waitUntil && (
          <>
            {' '}
            or, <In at={waitUntil} />, when they haven’t ended
          </>
        )}
        . A newer {isHeld ? 'one' : 'push'} replaces it.
      </p>
      {deployment.imageOf === null && (
        <PostForm action={`/projects/${projectId}/deployments`} class="actions">
          <input type="hidden" name="environment_id" value={environmentId} />
          <VersionFields {...{ deployment, project }} />
          {requestedCommit && <input type="hidden" name="commit" value={requestedCommit} />}
          <Button small variant="outline">
            Deploy without waiting
          </Button>
        </PostForm>
      )}
    </section>
  )
}
