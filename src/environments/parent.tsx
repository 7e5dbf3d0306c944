import type { Parent } from '../resources/resource.ts'
import { EnvironmentFrame } from './environment-frame.tsx'
import type { Tab } from './environment-frame.tsx'
import { headOf, lookOf } from './head.ts'
import type { HeadDeps } from './head.ts'
import { liveEnvironment, ownEnvironment } from './own-environment.ts'

export const ofEnvironment = (tab: Tab): Parent<HeadDeps> => ({
  find(deps, c, { isChange }) {
    const { environment, project } = (isChange ? liveEnvironment : ownEnvironment)(deps, c)
    return { id: environment.id, name: `${project.name} ${environment.name}` }
  },
  view(deps, c, { title, list }) {
    const { environment, project } = ownEnvironment(deps, c)
    const head = headOf(deps, { environment, project })
    return {
      title: `${project.name}: ${title} of ${environment.name}`,
      state: lookOf(head),
      page: () => (
        <EnvironmentFrame head={head} tab={tab}>
          {list()}
        </EnvironmentFrame>
      ),
      live: {},
    }
  },
})
