import { z } from 'zod'
import type { Config } from '../config.ts'
import { urlField } from '../web/address-fields.ts'
import { line } from '../web/fields.ts'
import { choiceField, lineField } from '../web/labelled-fields.ts'
import { providers, titles } from './providers/registry.ts'

/** `owner/name`; GitLab may have a path of groups before the name. */
export const repositoryName = line('a repository such as owner/name', { max: 300 }).regex(
  /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)+$/,
  'must be a repository such as owner/name.',
)

export const repositoriesQuery = z.object({
  sourceId: line('the id of a git source', { max: 100 }),
  search: line('some text', { min: 0, max: 200 }).optional(),
})

/** Of a repository of a source, or of any address. */
export const repositoryQuery = z.object({
  sourceId: line('the id of a git source', { max: 100 }).optional(),
  repository: repositoryName.optional(),
  repositoryUrl: line('the address of a git repository', { max: 2000 }).optional(),
})

/** Also with the two names that the path of a source's repository has. */
export const branchesQuery = repositoryQuery.extend({
  owner: line('the owner of a repository', { max: 300 }).optional(),
  repo: line('the name of a repository', { max: 300 }).optional(),
})

/** The base URL is optional for providers with a public host. */
export const sourceForm = (config: Pick<Config, 'allowHosts'>) =>
  z
    .object({
      provider: choiceField('Provider', titles, { initial: 'github' }),
      name: lineField('Name', { max: 60, placeholder: 'work' }),
      baseUrl: urlField('Address', config, {
        example: 'https://git.example.com',
        placeholder: 'https://git.example.com',
        hint: 'Leave empty for github.com and gitlab.com.',
        code: true,
      }).nullish(),
      accessToken: lineField('Access token', {
        max: 1000,
        type: 'password',
        hint: 'GitHub: repo, or, for a fine-grained one, Contents, Webhooks and Commit statuses. GitLab: api. Gitea: read:user and write:repository.',
        code: true,
      }).regex(/^[\x21-\x7e]+$/, 'has characters that no token has. Copy it again.'),
    })
    .transform((source, context) => {
      const baseUrl = source.baseUrl ?? providers[source.provider].baseUrl
      if (baseUrl) return { ...source, baseUrl }
      context.addIssue({ code: 'custom', path: ['baseUrl'], message: 'must be entered for Gitea.' })
      return z.NEVER
    })
