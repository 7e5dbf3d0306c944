import { z } from 'zod'
import type { Db } from '../db/index.ts'
import type { PreviewSettings } from '../db/schema.ts'
import { countPreviews } from '../environments/preview-store.ts'
import { baseOf } from '../environments/store.ts'
import { listVariables } from '../environments/variable-store.ts'
import { readRepositoryUrl } from '../git/repository-url.ts'
import { sampleUrl } from '../git/sample.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { variableName } from '../projects/forms.ts'
import type { Project } from '../projects/store.ts'
import { lines, whole } from '../web/fields.ts'
import { choiceField, flagField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'

const off: PreviewSettings = {
  enabled: false,
  max: 5,
  idleDays: 7,
  services: 'none',
  variables: [],
  forks: 'never',
}

export const previewSettings = ({ previews }: Pick<Project, 'previews'>) => previews ?? off

/** Null while the project may have one more. As many may wait for their first approval beside the others. */
export function whyFull(
  db: Db,
  { project, unapproved }: { project: Project; unapproved: boolean },
): string | null {
  const { max } = previewSettings(project)
  if (countPreviews(db, { projectId: project.id, unapproved }) < max) return null
  const which = unapproved ? 'previews that wait for your approval' : 'previews'
  return `The project has ${max} ${which}, the maximum. Close one, or raise it.`
}

const keys = lines(variableName, { max: 500 }).refine(
  (all) => new Set(all).size === all.length,
  'can have each only once.',
)

export const previewForm = z.object({
  enabled: flagField('Deploy pull requests', {
    hint: 'Each into an environment of its own, which is deleted with it. Turned off, no new ones are created; those that are there stay until they are closed or expire.',
  }),
  max: field(whole('previews', { min: 1, max: 50 }).nullish(), {
    label: 'Most at once',
    hint: 'Further pull requests get no preview.',
    inputmode: 'numeric',
    placeholder: '5',
    isNarrow: true,
  }),
  idleDays: field(whole('days', { min: 1, max: 90 }).nullish(), {
    label: 'Delete after',
    unit: 'days',
    hint: 'Counted from the last push.',
    inputmode: 'numeric',
    placeholder: '7',
    isNarrow: true,
  }),
  services: field(z.enum(['fresh', 'shared', 'none'], 'must be fresh, shared or none.').nullish(), {
    label: 'Services',
    hint: 'New ones have the same template and version, but their own password and no data. They are deleted with the preview.',
    options: [
      { value: 'none', label: 'None' },
      { value: 'fresh', label: 'New ones for each preview' },
      { value: 'shared', label: 'The same ones, with their data' },
    ],
  }),
  variables: field(keys.nullish(), {
    label: 'Variables',
    hint: 'Names of the variables that previews get with their values, one per line. The code of each pull request can read them.',
    code: true,
    isLong: true,
  }),
  forks: choiceField(
    'Forks',
    { never: 'Never deployed', approve: 'Deployed once you approve the commit' },
    { hint: 'An approved commit gets no secret variables and no services.' },
  ).nullish(),
})

function isElsewhere({ repositoryUrl: url }: Project) {
  return url !== sampleUrl && readRepositoryUrl(url, { allowLocal: true }).protocol !== 'file'
}

type Input = z.output<typeof previewForm>

/** Null restores a default. Throws for what can't be: the caller stores it. */
export function changedSettings(db: Db, project: Project, input: Input): PreviewSettings {
  if (project.image !== null)
    throw new AppError(
      'conflict',
      'This project deploys an image, so it has no pull requests. Choose a repository in its settings.',
    )
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const own = Object.fromEntries(
    given.map(([name, value]) => [name, value ?? off[name as keyof PreviewSettings]]),
  )
  const settings = { ...previewSettings(project), ...own } as PreviewSettings
  if (settings.enabled && !isElsewhere(project))
    throw new AppError(
      'conflict',
      'Only a repository at a provider has pull requests. Choose one in the settings of the project.',
    )
  const base = baseOf(db, project)
  const known = new Set(base ? listVariables(db, base.id).map(({ key }) => key) : [])
  const unknown = input.variables?.find((key) => !known.has(key))
  if (unknown !== undefined)
    throw invalidField('variables', `has ${unknown}, which ${base?.name} doesn’t have.`)
  return settings
}
