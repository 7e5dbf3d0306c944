import { z } from 'zod'
import type { Config } from '../config.ts'
import { isCommit } from '../git/ref-names.ts'
import { branchName, repositoryUrl } from '../projects/forms.ts'
import { line } from '../web/fields.ts'

export const triggerForm = (config: Config) =>
  z.object({
    environmentId: line('the id of an environment', { max: 100 }).nullish(),
    repositoryUrl: repositoryUrl(config).nullish(),
    branch: branchName.nullish(),
    commit: line('a commit', { max: 64 })
      .refine(isCommit, 'wants the full hash of a commit, 40 or 64 hex digits.')
      .transform((hash) => hash.toLowerCase())
      .nullish(),
  })
