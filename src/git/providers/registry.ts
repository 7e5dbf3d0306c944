import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Provider } from './provider.ts'

export type ProviderName = 'github' | 'gitlab' | 'gitea'

export const providers: Record<ProviderName, Provider> = { github, gitlab, gitea }

/** The names that people see. */
export const titles: Record<ProviderName, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea or Forgejo',
}
