import type { projects } from '../db/schema.ts'
import type { Source } from '../git/store.ts'
import { Checkbox, FormError, TextArea, TextField } from '../web/fields-view.tsx'
import { PostForm, SaveRow } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'
import { usesDeployKey } from './repository-choice.ts'
import { FromLinks, RepositoryFields } from './repository-fields.tsx'
import type { From } from './repository-fields.tsx'

type Project = typeof projects.$inferSelect
type FormProps = { project: Project; draft: Draft; saved?: boolean }
type ProjectFormProps = FormProps & { from: From; sources: Source[] }

export const ProjectSettings = (props: ProjectFormProps) => (
  <div class="settings">
    <ProjectForm {...props} />
    <BuildForm project={props.project} draft={props.draft} />
    <section class="settings-section danger" aria-labelledby="danger-heading">
      <div>
        <h2 id="danger-heading">Delete the project</h2>
        <p class="muted">
          Its containers, images, network and history are deleted. You are asked first, also about
          its volumes.
        </p>
      </div>
      <p>
        <button
          type="button"
          class="btn"
          data-variant="destructive"
          hx-get={`/projects/${props.project.id}/delete`}
          hx-target="#modal"
        >
          Delete…
        </button>
      </p>
    </section>
  </div>
)

/** Replaces itself with the server's answer, complaints or a note that it is saved. */
export const ProjectForm = ({ project, draft, from, sources, saved = false }: ProjectFormProps) => (
  <PostForm
    id="project-form"
    class="settings-section"
    aria-labelledby="source-heading"
    action={`/projects/${project.id}`}
    method="PUT"
    live
    hx-swap="outerHTML"
    hx-disable="find button"
  >
    <div>
      <h2 id="source-heading">Source</h2>
      <p class="muted">Where the code comes from.</p>
    </div>
    <div class="form">
      <FormError draft={draft} />
      <TextField
        name="name"
        label="Name"
        draft={draft}
        value={project.name}
        required
        maxlength={60}
        autocomplete="off"
      />
      <FromLinks path={`/projects/${project.id}/settings`} from={from} />
      <RepositoryFields {...{ from, draft, sources, project }} />
      {usesDeployKey(project) && project.deployKeyPublic && (
        <DeployKey publicKey={project.deployKeyPublic} />
      )}
      <SaveRow saved={saved && 'Saved'} />
    </div>
  </PostForm>
)

/** Like ProjectForm, for how the code is built. */
export const BuildForm = ({ project, draft, saved = false }: FormProps) => (
  <PostForm
    id="build-form"
    class="settings-section"
    aria-labelledby="build-heading"
    action={`/projects/${project.id}/settings`}
    method="PUT"
    live
    hx-swap="outerHTML"
    hx-disable="find button"
  >
    <div>
      <h2 id="build-heading">Build</h2>
      <p class="muted">How its image is built. Paths start at the root of the repository.</p>
    </div>
    <div class="form">
      <FormError draft={draft} />
      <div class="field-row">
        <TextField
          name="context_dir"
          label="Context directory"
          draft={draft}
          value={project.contextDir === '.' ? null : project.contextDir}
          placeholder="."
          maxlength={500}
          code
        />
        <TextField
          name="dockerfile_path"
          label="Dockerfile"
          draft={draft}
          value={project.dockerfilePath}
          placeholder={
            project.contextDir === '.' ? 'Dockerfile' : `${project.contextDir}/Dockerfile`
          }
          maxlength={500}
          code
        />
      </div>
      <TextArea
        name="build_args"
        label="Build arguments"
        draft={draft}
        value={Object.entries(project.buildArgs)
          .map(([key, value]) => `${key}=${value}`)
          .join('\n')}
        placeholder="NODE_ENV=production"
        hint="One KEY=value a line. They can be read in the image’s history: no secrets here."
        code
      />
      <Checkbox
        name="build_network"
        label="Network while building"
        draft={draft}
        value={project.buildNetwork}
        hint="Without it, commands of the Dockerfile can’t download anything: for builds that bring all they need."
      />
      <TextField
        name="keep_images"
        label="Images to keep"
        draft={draft}
        value={project.keepImages}
        type="number"
        min={1}
        max={100}
        hint="Per environment. As far back as these go, you can roll back."
      />
      <Checkbox
        name="auto_deploy"
        label="Deploy when the branch is pushed"
        draft={draft}
        value={project.autoDeploy}
        hint="Environments follow this unless they say otherwise."
      />
      <TextArea
        name="watch_paths"
        label="Watched paths"
        draft={draft}
        value={project.watchPaths.join('\n')}
        placeholder="src/**"
        hint="One path or pattern a line. A push that touches none of them deploys nothing; without any, every push deploys."
        code
      />
      <SaveRow saved={saved && 'Saved'} />
    </div>
  </PostForm>
)

/** The public half of a project's own key, and where it goes. */
export const DeployKey = ({ publicKey }: { publicKey: string }) => (
  <TextField
    name=""
    id="deploy-key"
    label="Deploy key"
    value={publicKey}
    hint="Add it to the deploy keys of the repository, for reading only, then deploy: Davit clones with it."
    readonly
    code
  />
)
