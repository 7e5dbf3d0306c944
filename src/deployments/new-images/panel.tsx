import { listTargets } from '../../projects/store.ts'
import type { Project } from '../../projects/store.ts'
import { parseImage } from '../../registries/tag-pattern.ts'
import { Fact, PulledRef } from '../../web/components.tsx'
import { Button, PostForm } from '../../web/form.tsx'
import { Ago } from '../../web/times.tsx'
import { getCurrent, pulledOf } from '../store.ts'
import type { CheckDeps } from './check-image.ts'
import type { ImageWatch } from './image-watch.ts'

export type ImageState = ReturnType<typeof imageStateOf>

export function imageStateOf(
  { db, images }: Pick<CheckDeps, 'db'> & { images: ImageWatch },
  project: Project,
) {
  const { image } = project
  return {
    /** Null for a project that builds. */
    image,
    follows: followsOf(project),
    /** Null when the registry wasn't asked since Davit started. */
    last: images.lastOf(project),
    environments: (image === null ? [] : listTargets(db, project.id)).map(({ id, name }) => {
      const current = getCurrent(db, id)
      return { id, name, pulled: current ? pulledOf(current) : null }
    }),
  }
}

/** How new images are found without a webhook. */
function followsOf({ image, checkTag }: Project): keyof typeof says {
  if (image === null) return 'nothing'
  if (parseImage(image)!.pattern !== null) return 'pattern'
  return checkTag ? 'tag' : 'nothing'
}

/** What is deployed, and what the registry had at the last check. */
export const ImagePanel = ({ project, state }: { project: Project; state: ImageState }) => (
  <section id="image-panel" class="settings-section" aria-labelledby="image-heading">
    <div>
      <h2 id="image-heading">New images</h2>
      <p class="muted">
        {state.image === null ? 'This project builds from a repository.' : says[state.follows]}{' '}
        <a href={`/projects/${project.id}/settings`}>Change it in Settings.</a>
      </p>
    </div>
    <div class="form">
      <dl class="facts">
        {state.environments.map(({ name, pulled }) => (
          <Fact name={name}>
            {pulled ? (
              <PulledRef reference={tagOf(pulled.reference)} digest={pulled.digest} copied />
            ) : (
              <span class="muted">nothing deployed</span>
            )}
          </Fact>
        ))}
        <Fact name="In the registry">
          <LastCheck {...state} />
        </Fact>
      </dl>
      {state.image !== null && !project.deletingAt && (
        <div class="form-actions start">
          <PostForm action={`/projects/${project.id}/image/check`} replaces="#image-panel">
            <Button variant="outline">Check now</Button>
          </PostForm>
        </div>
      )}
    </div>
  </section>
)

const LastCheck = ({ last }: Pick<ImageState, 'last'>) =>
  last ? (
    <>
      {last.found && <PulledRef reference={last.found.tag} digest={last.found.digest} />}
      <p class={last.hasFailed ? 'field-error' : 'muted'} dir="auto">
        {last.outcome}
      </p>
      <p class="muted">
        Checked <Ago at={last.at} />
      </p>
    </>
  ) : (
    <span class="muted">not checked yet</span>
  )

/** The repository stands at the head of the page. */
const tagOf = (reference: string) => parseImage(reference)?.reference.tag ?? ''

const says = {
  pattern: 'The registry is asked every five minutes for the newest tag that the pattern matches.',
  tag: 'The registry is asked every five minutes whether the tag has a new image.',
  nothing: 'A new image is deployed when its registry reports it, below.',
}
