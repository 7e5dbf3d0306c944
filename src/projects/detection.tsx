import { z } from 'zod'
import type { Part } from '../detection/apps.ts'
import type { Survey } from '../detection/detect.ts'
import type { Plan } from '../detection/plan.ts'
import type { Config } from '../config.ts'
import type { OpenDirectory } from '../git/directory.ts'
import { composeFilesIn } from '../git/missing-path.ts'
import { Failure } from '../platform/errors.ts'
import { SchemaFields } from '../web/schema-fields.tsx'
import type { Draft } from '../web/draft.ts'
import { SettingsForm, SettingsSection } from '../web/settings-frame.tsx'
import type { FoundService } from './stack-view.tsx'
import { readDavitFile } from './davit-file.ts'
import { buildForm, buildSettings, steersBuilder } from './build-form.ts'
import { openKeys } from './keys.ts'
import { problemOf, surveyRepository } from './plan-build.ts'
import type { RemovalDeps } from './remove.ts'
import type { Project, SharedCode } from './store.ts'

/** Reads the Compose file of a project, as far as that is possible without an environment’s variables. */
export type FindStack = (
  project: Pick<Project, 'composeFile' | 'composeService' | 'ownerId'>,
  of: { directory: Pick<OpenDirectory, 'paths' | 'read' | 'follow'>; signal: AbortSignal },
) => Promise<Pick<Plan, 'reasons' | 'links'> & { services: FoundService[] }>

export type Detection = Omit<Plan, 'kind' | 'context' | 'dockerfile' | 'dockerignore'> & {
  services: FoundService[]
  composeFiles: string[]
  /** Null when it couldn't be fetched. */
  commit: string | null
  /** `Dockerfile` when the repository has one, `image` without a repository; null when nothing was recognised. */
  kind: string | null
  dockerfile: string | null
  problem: Survey['problem']
  /** The apps of the repository and the packages that they share; none where its top is the only one. */
  workspaces: Part[]
}

const nothing = {
  ...{ reasons: [], settings: {}, links: [], releaseCommand: null, problem: null },
  workspaces: [] as Part[],
  services: [] as FoundService[],
  composeFiles: [] as string[],
}

/** The other keys are checked when it is deployed. */
const buildRules = {
  schema: z.looseObject({ build: buildForm.shape.buildSettings }, 'must have keys with values.'),
  unknown: () => 'isn’t a setting there.',
}

/** Fetches the head of the project's branch, and recognises what its next deployment builds. */
export async function detectProject(
  deps: Pick<RemovalDeps, 'db' | 'secrets' | 'git'> & { config: Config; findStack: FindStack },
  { project, signal }: { project: Project; signal: AbortSignal },
): Promise<Detection> {
  if (project.image !== null) {
    const reasons = [`${project.image} is deployed as it is`]
    return { ...nothing, commit: null, kind: 'image', reasons, dockerfile: null }
  }
  const keys = openKeys(deps, project)
  const { repositoryUrl: url, branch, contextDir, dockerfilePath } = project
  const log = () => {}
  const where = { url, branch, commit: null, history: false, signal, log }
  let commit: string | null = null
  let found: Survey | null = null
  let composeFiles: string[] = []
  try {
    const snapshot = await deps.git.fetch({ ...keys, ...where })
    commit = snapshot.commit.hash
    const directory = await deps.git.directory(snapshot, { ...keys, signal, log })
    if (project.composeFile !== null) {
      const stack = await deps.findStack(project, { directory, signal })
      return { ...nothing, ...stack, commit, kind: 'Compose', dockerfile: null }
    }
    composeFiles = composeFilesIn(directory.paths).slice(0, 5)
    const context = await deps.git.context(snapshot, {
      ...keys,
      ...{ contextDir, dockerfilePath, signal, log },
      inspect: async (directory, app) => {
        const code = await readDavitFile(directory, buildRules, { owner: project.ownerId, signal })
        const buildSettings = code?.settings.build ?? project.buildSettings
        const buildVariables = Object.keys(project.buildArgs).filter((name) => !steersBuilder(name))
        const given = { buildVariables, signal }
        found = await surveyRepository({ ...project, buildSettings }, app, given)
      },
      plan: async () => {
        const { plan, problem } = found!
        if (!plan) throw new Failure(problem!.code, problem!.message, problem!.hint)
        return plan
      },
    })
    const { plan, workspaces } = found! as Survey
    const about = { ...nothing, composeFiles, commit, workspaces }
    if (context.planned !== null) return { ...about, ...shown(plan!) }
    const dockerfile = await deps.git.readDockerfile(context, { signal })
    const reasons = [`${context.dockerfile} in the repository`]
    return { ...about, kind: 'Dockerfile', reasons, dockerfile }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { workspaces } = (found as Survey | null) ?? nothing
    const problem = problemOf(error)
    return { ...nothing, composeFiles, commit, kind: null, dockerfile: null, problem, workspaces }
  }
}

const shown = ({ dockerignore: _, context: __, ...plan }: Plan) => plan

/** The response replaces the form, with errors if there are any. */
export const DetectionForm = ({
  project,
  code,
  draft,
}: {
  project: Project
  code: SharedCode
  draft: Draft
}) => {
  if (project.composeFile !== null)
    return (
      <SettingsSection
        id="detection"
        title="Services"
        about="What the next deployment builds, pulls and runs."
      >
        <Look project={project} />
      </SettingsSection>
    )
  const head = { id: 'detection', title: 'Without a Dockerfile' }
  const about = 'For a repository without a Dockerfile, Davit recognises what it is and writes one.'
  if (code?.settings.build)
    return (
      <SettingsSection {...head} about={about}>
        <div class="form">
          <Look project={project} />
          <p class="note">
            From <code>{code.file}</code> in the repository:{' '}
            {new Intl.ListFormat('en').format(Object.keys(code.settings.build))}.
          </p>
        </div>
      </SettingsSection>
    )
  return (
    <SettingsForm
      {...head}
      about={`${about} Leave a field empty to use what was found.`}
      action={`/projects/${project.id}/settings`}
      draft={draft}
    >
      <Look project={project} />
      <SchemaFields
        schema={buildSettings}
        prefix="build_settings."
        values={project.buildSettings}
      />
    </SettingsForm>
  )
}

const Look = ({ project }: { project: Project }) => (
  <div
    class="repository-look waits"
    hx-get={`/projects/${project.id}/detection`}
    hx-trigger="revealed"
    aria-live="polite"
  />
)
