import { z } from 'zod'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { componentOf, creates, does, id, nothing, shown, time } from '../web/operation.ts'
import { At, In } from '../web/times.tsx'
import type { Planned } from './planned-store.ts'
import { environmentPath } from './paths.ts'
import type { Environment } from './store.ts'

export const planned = componentOf('PlannedDeployment', () => ({
  environmentId: id,
  at: time,
  plannedBy: z.string(),
  /** What it deploys then; without any of these the newest of what the environment follows. */
  branch: z.string().nullable(),
  tag: z.string().nullable(),
  commit: z.string().nullable(),
  image: z.string().nullable(),
  noCache: z.boolean(),
  /** Why it couldn’t be deployed at its time; null before that. */
  problem: z.string().nullable(),
  createdAt: time,
}))

export function plannedJson(row: Planned) {
  const { branch = null, tag = null, commit = null, image = null, noCache } = row.version
  return shown(planned, { ...row, branch, tag, commit, image, noCache: noCache ?? false })
}

export const plannedOperations = () => ({
  'GET /projects/:id/envs/:envId/planned': does(
    'Get the deployment that is planned for a time',
    z.object({ planned: planned().nullable() }),
  ),
  'POST /projects/:id/envs/:envId/planned': creates(
    'Plan a deployment for a time, in place of the one that is planned',
    planned(),
  ),
  'DELETE /projects/:id/envs/:envId/planned': does('Cancel the planned deployment', nothing),
})

export const plannedPath = (key: Pick<Environment, 'id' | 'projectId'>) =>
  `${environmentPath(key)}/planned`

type Props = { planned: Planned; environment: Pick<Environment, 'id' | 'projectId' | 'name'> }

/** Says what is deployed when, with what changes and cancels it. */
export const PlannedNote = ({
  planned: { at, version, plannedBy, problem },
  environment,
}: Props) => (
  <div class="note pending planned">
    <p>
      {problem === null ? (
        <>
          <bdi>{whatIn(version)}</bdi> is deployed on <At at={at} />, <In at={at} />.
        </>
      ) : (
        <>
          Not deployed on <At at={at} />: {problem}
        </>
      )}{' '}
      <span class="muted">
        Planned by <bdi>{plannedBy}</bdi>.
      </span>
    </p>
    <div class="actions">
      <ButtonLink small variant="outline" opens={plannedPath(environment)}>
        Change time…
      </ButtonLink>
      <PostForm action={plannedPath(environment)} method="DELETE">
        <Button
          small
          variant="outline"
          aria-label={`Cancel what is planned for ${environment.name}`}
        >
          {problem === null ? 'Cancel' : 'Dismiss'}
        </Button>
      </PostForm>
    </div>
  </div>
)

function whatIn({ branch, tag, commit, image }: Planned['version']) {
  if (commit) return `Commit ${commit.slice(0, 7)}`
  return image ?? tag ?? (branch ? `The newest commit of ${branch}` : 'The newest version')
}
