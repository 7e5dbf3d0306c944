import type { UrlDeps } from '../addresses/urls.ts'
import { urlOf } from '../environments/json.ts'
import { defaultBranch } from '../environments/followed.ts'
import { getLiveUrl } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { GivenVariable } from '../environments/variables-page.tsx'
import type { Project } from '../projects/store.ts'
import { builtIn, shownLinks, variablesOf } from './effective.ts'
import type { LinkDeps } from './effective.ts'

/** For display: the variables beside those set by hand. Of two with the same key the later one applies. */
export const givenVariables =
  (deps: LinkDeps & Pick<UrlDeps, 'edge'>) =>
  async (of: { project: Project; environment: Environment }): Promise<GivenVariable[]> => {
    const { project, environment } = of
    const deployment = { commitHash: null, branch: defaultBranch(of) }
    const { ownerId } = project
    const url =
      getLiveUrl(deps.db, environment.id) && urlOf(deps, { environment, ownerId, isIntended: true })
    const ofDavit = builtIn({ ...of, deployment, url })
    const linked = variablesOf(await shownLinks(deps, environment.id))
    return [
      ...Object.entries(ofDavit).map(([key, value]) => ({ key, value, secret: false, link: null })),
      ...linked.map(({ key, provides, service: { id, name }, provided }) => ({
        key,
        value: provided && !provided.secret ? provided.value : null,
        secret: provided?.secret ?? false,
        link: { service: { id, name }, provides, isBroken: !provided },
      })),
    ]
  }
