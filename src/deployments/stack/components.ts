import { web } from '../../environments/processes.ts'
import { planContainers } from '../../services/compose/containers.ts'
import type { Component } from '../../runtime/component.ts'
import type { StackImage } from '../../db/schema.ts'
import { componentsOf } from '../components.ts'
import type { App } from '../components.ts'
import type { StackPlan } from './plan.ts'

/** The component of a service: that with the addresses is `web`, whatever the file calls it. */
export const componentNameIn = (plan: Pick<StackPlan, 'web'>, service: string) =>
  service === plan.web ? web : service

/**
 * The containers of a Compose file. Those that are built, and the one with the addresses, have the variables
 * and links of the environment as well. They find each other by the names in the file, on a network that only
 * they share: all environments of a project are on the project's.
 */
export function stackComponents(
  app: App,
  {
    plan,
    images,
    port,
    domain,
  }: {
    plan: StackPlan
    images: Record<string, StackImage>
    port: number
    domain?: string | undefined
  },
): Component[] {
  const { project, environment, places } = app
  const alone = { name: web, command: null, replicas: 1, memoryMb: null, cpus: null }
  const main = images[plan.web!]!.image
  const [process] = componentsOf(
    { ...app, environment: { ...environment, processes: [alone] } },
    { image: main, port, domain },
  )
  const planned = planContainers(plan, {
    id: environment.id,
    name: `${project.name} ${environment.name}`,
    publishAddress: places.publishAddress,
    memoryBytes: environment.memoryMb * 1024 * 1024,
    cpus: environment.cpus,
  })
  const ownNames = [...new Set(planned.flatMap(({ options }) => options.networkAliases!))].sort()
  return planned.map((component): Component => {
    const isWeb = component.name === plan.web
    const isApp = isWeb || plan.services.get(component.name)!.build !== null
    const { options, waits } = component
    return {
      ...component,
      name: componentNameIn(plan, component.name),
      options: {
        ...options,
        image: images[component.name]!.image,
        env: { ...(isApp && withoutPort(process!.options.env, isWeb)), ...options.env },
        networkAliases: isWeb ? process!.options.networkAliases! : [],
        ports: isWeb ? process!.options.ports! : [],
        volumes: [
          ...options.volumes!,
          ...(isWeb ? process!.options.volumes! : []).filter(
            ({ path }) => !options.volumes!.some((volume) => volume.path === path),
          ),
        ],
      },
      joins: [...(isApp ? app.joins : []), environment.id],
      names: options.networkAliases!,
      ownNames,
      waits: waits.map((wait) => ({ ...wait, component: componentNameIn(plan, wait.component) })),
      gate: isWeb ? process!.gate : component.gate,
    }
  })
}

/** PORT is that of the service with the addresses; others would take it for theirs. */
function withoutPort(env: Record<string, string> = {}, isWeb: boolean) {
  const { PORT, ...rest } = env
  return isWeb && PORT !== undefined ? { ...rest, PORT } : rest
}
