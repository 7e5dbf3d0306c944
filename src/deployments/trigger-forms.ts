import { z } from 'zod'
import type { Config } from '../config.ts'
import { isCommit } from '../git/ref-names.ts'
import { branchName, imageReference, repositoryUrl } from '../projects/forms.ts'
import { flag, line } from '../web/fields.ts'
import { moment, timeFields } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { shareFields, shareProblems } from './share-fields.ts'

export const commitHash = line('a commit', { max: 64 })
  .refine(isCommit, 'must be the full hash of a commit, 40 or 64 hex digits.')
  .transform((hash) => hash.toLowerCase())

/** Why a deployment can't wait for the end of a freeze. */
export const note = () =>
  field(line('a note', { max: 300 }), { label: 'Why it can’t wait' }).nullish()

export const freezeNoteForm = z.object({ note: note() })

/** What a pipeline sends. */
export const hookForm = z.object({
  environmentId: line('the id of an environment', { max: 100 }),
  commit: commitHash.nullish(),
  image: imageReference.nullish(),
  wait: flag().nullish(),
})

const versionFields = (config: Config) => ({
  repositoryUrl: repositoryUrl(config).nullish(),
  branch: field(branchName.nullish(), { label: 'Branch or tag', code: true }),
  /** In place of a branch. */
  tag: field(branchName.nullish(), { label: 'Tag', code: true }),
  commit: field(commitHash.nullish(), {
    label: 'Commit',
    hint: 'The full hash of 40 or 64 digits, for exactly that one.',
    code: true,
  }),
  noCache: flag().nullish(),
  /** Another tag or digest of the project's image. */
  image: field(imageReference.nullish(), { label: 'Image', code: true }),
})

type Issues = { addIssue: (issue: { code: 'custom'; path: string[]; message: string }) => void }

const refuse = ({ addIssue }: Issues, field: string, message: string) =>
  addIssue({ code: 'custom', path: [field], message })

function refuseTwoRefs(
  { branch, tag }: { branch?: string | null | undefined; tag?: string | null | undefined },
  issues: Issues,
) {
  if (branch && tag)
    refuse(issues, 'tag', 'can’t be combined with a branch. Send only one of them.')
}

/** The default environment is the project's first. */
export const triggerForm = (config: Config) =>
  z
    .object({
      environmentId: line('the id of an environment', { max: 100 }).nullish(),
      ...versionFields(config),
      reuseImage: flag().nullish(),
      /** Later, instead of now. */
      at: moment('Time').nullish(),
      zone: timeFields.zone,
      note: note(),
      ...shareFields,
    })
    .superRefine(({ reuseImage, ...asked }, issues) => {
      refuseTwoRefs(asked, issues)
      for (const { field, problem } of shareProblems(asked)) refuse(issues, field, problem)
      if (asked.at && asked.strategy === 'share')
        refuse(issues, 'strategy', 'can’t be combined with a time. Send only one of them.')
      if (asked.zone && !asked.at) refuse(issues, 'zone', 'needs a time (at).')
      if (asked.note && asked.at)
        refuse(
          issues,
          'note',
          'can’t be combined with a time: what is planned waits for the end of a freeze. Send only one.',
        )
      const others = ['repositoryUrl', 'branch', 'tag', 'commit', 'image', 'noCache', 'at'] as const
      for (const field of others)
        if (reuseImage && asked[field])
          refuse(issues, field, 'can’t be combined with reusing the image. Send only one of them.')
    })

export const planForm = (config: Config) =>
  z
    .object({ at: moment('Time'), zone: timeFields.zone, ...versionFields(config) })
    .superRefine(refuseTwoRefs)
