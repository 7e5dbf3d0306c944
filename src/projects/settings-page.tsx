import { SettingsForm, SettingsSection } from '../web/settings-frame.tsx'
import type { Source } from '../git/store.ts'
import { Checkbox, TextArea, TextField } from '../web/fields-view.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { usesDeployKey } from './repository-choice.ts'
import { FromLinks, RepositoryFields } from './repository-fields.tsx'
import type { From } from './repository-fields.tsx'
import type { Project } from './store.ts'

type FormProps = { project: Project; draft: Draft; saved?: boolean }
type ProjectFormProps = FormProps & { from: From; sources: Source[] }

export const ProjectSettings = (props: ProjectFormProps) => (
  <div class="settings">
    <ProjectForm {...props} />
    <BuildForm project={props.project} draft={props.draft} />
    <SettingsSection
      id="danger"
      title="Delete the project"
      about="Its containers, images, network and history are deleted. You are asked first, also about its volumes."
      danger
    >
      <p>
        <ButtonLink variant="destructive" opens={`/projects/${props.project.id}/delete`}>
          Delete…
        </ButtonLink>
      </p>
    </SettingsSection>
  </div>
)

/** Replaces itself with the server's answer, complaints or a note that it is saved. */
export const ProjectForm = ({ project, draft, from, sources, saved = false }: ProjectFormProps) => (
  <SettingsForm
    id="project"
    title="Source"
    about="Where the code comes from."
    action={`/projects/${project.id}`}
    draft={draft}
    saved={saved && 'Saved'}
  >
    <TextField
      name="name"
      label="Name"
      value={project.name}
      required
      maxlength={60}
      autocomplete="off"
    />
    <FromLinks path={`/projects/${project.id}/settings`} from={from} />
    <RepositoryFields {...{ from, draft, sources, project }} />
    {usesDeployKey(project) && project.deployKeyPublic && (
      <TextField
        name=""
        id="deploy-key"
        label="Deploy key"
        value={project.deployKeyPublic}
        hint="Add it to the deploy keys of the repository, for reading only, then deploy: Davit clones with it."
        readonly
        code
      />
    )}
  </SettingsForm>
)

/** Like ProjectForm, for how the code is built. */
export const BuildForm = ({ project, draft, saved = false }: FormProps) => (
  <SettingsForm
    id="build"
    title="Build"
    about="How its image is built. Paths start at the root of the repository."
    action={`/projects/${project.id}/settings`}
    draft={draft}
    saved={saved && 'Saved'}
  >
    <div class="field-row">
      <TextField
        name="context_dir"
        label="Context directory"
        value={project.contextDir === '.' ? null : project.contextDir}
        placeholder="."
        maxlength={500}
        code
      />
      <TextField
        name="dockerfile_path"
        label="Dockerfile"
        value={project.dockerfilePath}
        placeholder={project.contextDir === '.' ? 'Dockerfile' : `${project.contextDir}/Dockerfile`}
        maxlength={500}
        code
      />
    </div>
    <TextArea
      name="build_args"
      label="Build arguments"
      value={Object.entries(project.buildArgs)
        .map(([key, value]) => `${key}=${value}`)
        .join('\n')}
      placeholder="NODE_ENV=production"
      hint="One KEY=value per line. They can be read in the image’s history: no secrets here."
      code
    />
    <Checkbox
      name="build_network"
      label="Network while building"
      value={project.buildNetwork}
      hint="Without it, commands of the Dockerfile can’t download anything: for builds that bring all they need."
    />
    <TextField
      name="keep_images"
      label="Images to keep"
      value={project.keepImages}
      type="number"
      min={1}
      max={100}
      hint="Per environment. As far back as these go, you can roll back."
    />
    <Checkbox
      name="auto_deploy"
      label="Deploy when the branch is pushed"
      value={project.autoDeploy}
      hint="Environments follow this unless they say otherwise."
    />
    <TextArea
      name="watch_paths"
      label="Watched paths"
      value={project.watchPaths.join('\n')}
      placeholder="src/**"
      hint="One path or pattern a line. A push that touches none of them deploys nothing; without any, every push deploys."
      code
    />
  </SettingsForm>
)
