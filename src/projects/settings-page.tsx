import { SettingsForm, SettingsSection } from '../web/settings-frame.tsx'
import type { Source } from '../git/store.ts'
import { Checkbox, TextArea, TextField } from '../web/fields-view.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { DetectionForm } from './detection.tsx'
import { isTag } from '../registries/tag-pattern.ts'
import { usesDeployKey } from './repository-choice.ts'
import { FromLinks, RepositoryFields } from './repository-fields.tsx'
import type { From } from './repository-fields.tsx'
import type { Project, SharedCode } from './store.ts'
import { WatchedFilesLook } from './watched-files.tsx'

type FormProps = { project: Project; code: SharedCode; draft: Draft }
type ProjectFormProps = FormProps & { from: From; sources: Source[] }

export const ProjectSettings = ({ project, code, draft, ...source }: ProjectFormProps) => (
  <div class="settings">
    <ProjectForm {...{ project, code, draft, ...source }} />
    <BuildForm {...{ project, code, draft }} />
    {project.image === null && <DetectionForm {...{ project, code, draft }} />}
    <SettingsSection
      id="danger"
      title="Delete project"
      about="Its containers, images, network and history are deleted. You can choose whether to delete its volumes."
      danger
    >
      <p>
        <ButtonLink variant="destructive" opens={`/projects/${project.id}/delete`}>
          Delete…
        </ButtonLink>
      </p>
    </SettingsSection>
  </div>
)

/** The response replaces the form, with errors if there are any. */
export const ProjectForm = ({ project, draft, from, sources }: ProjectFormProps) => (
  <SettingsForm
    id="project"
    title="Source"
    about="Where the code, or the image, comes from."
    action={`/projects/${project.id}`}
    draft={draft}
  >
    <TextField name="name" label="Name" value={project.name} required autocomplete="off" />
    <FromLinks path={`/projects/${project.id}/settings`} from={from} />
    <RepositoryFields {...{ from, draft, sources, project }} />
    {usesDeployKey(project) && project.deployKeyPublic && (
      <TextField
        name=""
        id="deploy-key"
        label="Deploy key"
        value={project.deployKeyPublic}
        hint="Add it to the deploy keys of the repository, with read access, then deploy. Davit clones with it."
        readonly
        code
      />
    )}
  </SettingsForm>
)

export const BuildForm = ({ project, code, draft }: FormProps) =>
  project.image === null ? (
    <BuildFields {...{ project, code, draft }} />
  ) : (
    <SettingsForm
      id="build"
      title="Images"
      about="Which new ones are deployed, and how many are kept."
      action={`/projects/${project.id}/settings`}
      draft={draft}
    >
      <Checkbox
        name="auto_deploy"
        label="Deploy new images"
        value={project.autoDeploy}
        hint="Those that its registry reports, or that Davit finds there. Environments use this unless they set their own."
      />
      {isTag(project.image) && (
        <Checkbox
          name="check_tag"
          label="Check the tag"
          value={project.checkTag}
          hint="Davit asks the registry every five minutes whether the tag has a new image. Not needed with a webhook."
        />
      )}
      <KeepImages project={project} />
    </SettingsForm>
  )

const KeepImages = ({ project }: Pick<FormProps, 'project'>) => (
  <TextField
    name="keep_images"
    label="Images to keep"
    value={project.keepImages}
    type="number"
    min={1}
    max={100}
    hint="Per environment. You can roll back to deployments whose image is kept."
  />
)

const BuildFields = ({ project, code, draft }: FormProps) => (
  <SettingsForm
    id="build"
    title="Build"
    about="How its image is built. Paths start at the root of the repository."
    action={`/projects/${project.id}/settings`}
    draft={draft}
  >
    <div class="field-row">
      <TextField
        name="context_dir"
        label="Context directory"
        value={project.contextDir === '.' ? null : project.contextDir}
        placeholder="."
        code
      />
      <TextField
        name="dockerfile_path"
        label="Dockerfile"
        value={project.dockerfilePath}
        placeholder={project.contextDir === '.' ? 'Dockerfile' : `${project.contextDir}/Dockerfile`}
        code
      />
    </div>
    <div class="field-row">
      <TextField
        name="compose_file"
        label="Compose file"
        value={project.composeFile}
        placeholder="compose.yaml"
        hint="Its services are built and run together, in place of one Dockerfile. Leave empty for one image."
        code
      />
      <TextField
        name="compose_service"
        label="Service with the addresses"
        value={project.composeService}
        hint="Of the Compose file. Leave empty to use the one that publishes a port."
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
      hint="One KEY=value per line. They are readable in the image’s history, so don’t use secrets."
      code
    />
    <Checkbox
      name="build_network"
      label="Network while building"
      value={project.buildNetwork}
      hint="Without it, commands in the Dockerfile can’t download anything. For builds that include everything they need."
    />
    <Checkbox
      name="git_directory"
      label="Git directory"
      value={project.gitDirectory}
      hint="Adds .git with the whole history and all tags to the build context, for builds that run git, such as git describe. Without it, .git is left out."
    />
    <KeepImages project={project} />
    <Checkbox
      name="auto_deploy"
      label="Deploy on push"
      value={project.autoDeploy}
      hint="Environments use this unless they set their own."
    />
    <TextArea
      name="watch_paths"
      label="Watched paths"
      value={(code?.settings.watchPaths ?? project.watchPaths).join('\n')}
      disabled={code?.settings.watchPaths !== undefined}
      placeholder="src/**"
      hint={
        code?.settings.watchPaths
          ? `From ${code.file} in the repository.`
          : 'One path or pattern per line, from the root of the repository: src, *.md, packages/*/src, **/*.sql, src/{web,api}, v[0-9], x[!0-9]. What is below a folder counts too. Only a push that changes one of them deploys. Leave empty to deploy on every push.'
      }
      code
    />
    {!code?.settings.watchPaths && <WatchedFilesLook project={project} />}
  </SettingsForm>
)
