import type { Project } from '../projects/store.ts'
import type { ProviderName } from './provider.ts'
import { placeOf } from './repository-names.ts'

const hosts: Record<string, ProviderName> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'gitea.com': 'gitea',
  'codeberg.org': 'gitea',
}

/** The provider that tells of pushes to a project, or all where neither its source nor its host says which. */
export function providersOf(
  { repositoryUrl }: Pick<Project, 'repositoryUrl'>,
  source: ProviderName | null,
): ProviderName[] {
  const known = source ?? hosts[placeOf(repositoryUrl)?.host ?? '']
  return known ? [known] : ['github', 'gitlab', 'gitea']
}
