import type { Context } from 'hono'
import { environmentIn } from '../environments/own-environment.ts'
import type { Environment } from '../environments/store.ts'
import { followedInWords, needsRef, patternsOf } from '../environments/followed.ts'
import { environmentPath } from '../environments/paths.ts'
import type { Git } from '../git/git.ts'
import { statusOfFailure } from '../git/look-up.ts'
import type { matchingRefs, MatchingRefs, RefType } from '../git/ref-pattern.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { openKeys } from '../projects/keys.ts'
import type { Project } from '../projects/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Db } from '../db/index.ts'
import { clientOf } from '../web/client.ts'
import { ModalForm } from '../web/dialog.tsx'
import { factory } from '../web/factory.ts'
import { SelectField, TextField } from '../web/fields-view.tsx'
import { show } from '../web/respond.tsx'

type RefDeps = { db: Db; secrets: Secrets; git: Git }
type RefOwner = { project: Project; environment: Environment }

/** In milliseconds, for the git server. Shorter than the time that a request may take. */
const timeoutMs = 10_000

/** The branches and tags that an environment with patterns can deploy, and the form that chooses one. */
export const refRoutes = (deps: RefDeps) =>
  factory.createApp().get('/projects/:id/envs/:envId/refs', async (c) => {
    const of = environmentIn(deps, c)
    const { refs, refused } = await listRefs(deps, c, of)
    return show(c, {
      title: `Deploy ${of.project.name} ${of.environment.name}`,
      page: () => <RefDialog {...of} refs={refs} refused={refused} />,
      json: () => ({ ...refs, nextCursor: null }),
    })
  })

export const refsPath = (environment: Environment) => `${environmentPath(environment)}/refs`

/** People still get the form when the repository can't be read. */
async function listRefs(deps: RefDeps, c: Context, of: RefOwner) {
  const { project } = of
  const none: MatchingRefs = { items: [], truncated: false }
  if (project.image !== null)
    throw new AppError('conflict', 'This project deploys an image, which has no branches or tags.')
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(timeoutMs)])
  const tooLong = () => new AppError('bad_gateway', 'The repository didn’t list its refs in time.')
  try {
    const url = project.repositoryUrl
    const listing = await deps.git.listRefs({ ...openKeys(deps, project), url, signal })
    const options = { tooLong, owner: project.ownerId, signal }
    const args: Parameters<typeof matchingRefs> = [listing, patternsOf(of)]
    return { refs: await parse<typeof matchingRefs>('matchingRefs', args, options), refused: null }
  } catch (error) {
    if (c.req.raw.signal.aborted) throw error
    const told = signal.aborted
      ? tooLong()
      : error instanceof Failure
        ? statusOfFailure(error)
        : error
    if (!(told instanceof AppError || told instanceof Failure) || clientOf(c) === 'program')
      throw told
    return { refs: none, refused: told.message }
  }
}

const words: Record<RefType, string> = { branch: 'Branch', tag: 'Tag' }

const RefDialog = ({
  refs: { items, truncated },
  refused,
  ...of
}: RefOwner & { refs: MatchingRefs; refused: string | null }) => {
  const { project, environment } = of
  const patterns = patternsOf(of)
  const types = (['branch', 'tag'] as const).filter((type) => patterns[type] !== null)
  return (
    <ModalForm
      title={
        <>
          Deploy <bdi>{environment.name}</bdi>
        </>
      }
      from={{ href: environmentPath(environment), name: environment.name }}
      action={`/projects/${project.id}/deployments`}
      submit="Deploy"
    >
      <p>
        It follows <bdi>{followedInWords(of)}</bdi>.
        {types.length > 1 && ' Choose a branch or a tag.'}
      </p>
      {refused !== null && (
        <p class="note" role="alert">
          {refused}
        </p>
      )}
      <input type="hidden" name="environment_id" value={environment.id} />
      {types.map((type) => {
        const names = items.filter((ref) => ref.type === type).map(({ name }) => name)
        const common = {
          name: type,
          label: words[type],
          required: needsRef(of) && types.length === 1,
        }
        return names.length === 0 ? (
          <TextField
            {...common}
            hint={refused === null ? 'The repository has none that matches.' : undefined}
            code
          />
        ) : (
          <SelectField
            {...common}
            hint={truncated ? `Only ${names.length} are listed.` : undefined}
            options={[
              { value: '', label: 'Choose…' },
              ...names.map((name) => ({ value: name, label: name })),
            ]}
          />
        )
      })}
    </ModalForm>
  )
}
