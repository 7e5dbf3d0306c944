import { SettingsForm, SettingsSection } from '../web/settings-frame.tsx'
import type { Source } from '../git/store.ts'
import { TextField } from '../web/fields-view.tsx'
import { namesIn, SchemaFields } from '../web/schema-fields.tsx'
import { buildForm } from './build-form.ts'
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

export const BuildForm = ({ project, code, draft }: FormProps) => {
  const isImage = project.image !== null
  const watched = code?.settings.watchPaths
  return (
    <SettingsForm
      id="build"
      {...(isImage ? ofImages : ofBuilds)}
      action={`/projects/${project.id}/settings`}
      draft={draft}
    >
      <SchemaFields
        schema={buildForm}
        names={
          isImage
            ? ['autoDeploy', ...(isTag(project.image!) ? ['checkTag'] : []), 'keepImages']
            : namesIn(buildForm, 'build')
        }
        values={{
          ...project,
          contextDir: project.contextDir === '.' ? null : project.contextDir,
          buildArgs: Object.entries(project.buildArgs).map((pair) => pair.join('=')),
          watchPaths: watched ?? project.watchPaths,
        }}
        more={{
          dockerfilePath: {
            placeholder:
              project.contextDir === '.' ? 'Dockerfile' : `${project.contextDir}/Dockerfile`,
          },
          autoDeploy: isImage ? newImages : {},
          watchPaths: watched
            ? { disabled: true, hint: `From ${code.file} in the repository.` }
            : {},
        }}
      />
      {!isImage && !watched && <WatchedFilesLook project={project} />}
    </SettingsForm>
  )
}

const ofBuilds = {
  title: 'Build',
  about: 'How its image is built. Paths start at the root of the repository.',
}
const ofImages = {
  title: 'Images',
  about: 'Which new ones are deployed, and how many are kept.',
}
const newImages = {
  label: 'Deploy new images',
  hint: 'Those that its registry reports, or that Davit finds there. Environments use this unless they set their own.',
}
