import type { Link } from '../../detection/plan.ts'
import type { FindStack } from '../../projects/detection.tsx'
import { parseReference } from '../../registries/image-registry.ts'
import { planFrom } from './plan.ts'

/** What a user sees of a Compose file before it is deployed. Required variables get sample values. */
export const findStack: FindStack = async (project, { directory, signal }) => {
  const { plan } = await planFrom(directory, {
    file: project.composeFile!,
    values: {},
    service: project.composeService,
    limits: null,
    isSample: true,
    owner: project.ownerId,
    signal,
  })
  const services = [...plan.services.values()]
  return {
    services: services.map(({ name, image, build, replicas }) => ({
      name,
      image: build ? null : image,
      context: build?.context ?? null,
      replicas,
      web: name === plan.web,
    })),
    reasons: [
      ...(plan.web === null
        ? [`Several services could have the addresses: ${plan.choices.join(', ')}. Choose one`]
        : []),
      ...(plan.unset.length > 0
        ? [`It needs values for ${[...new Set(plan.unset)].join(', ')}: set them as variables`]
        : []),
      ...plan.notes,
    ],
    links: services.flatMap(({ name, image }) => {
      const template = templateOf(image)
      return template ? [{ template, reason: `${name} runs ${image}` }] : []
    }),
  }
}

const templates: Record<string, Link['template']> = {
  postgres: 'postgresql',
  postgis: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
  mongo: 'mongodb',
  redis: 'redis',
  valkey: 'redis',
  rabbitmq: 'rabbitmq',
}

const templateOf = (image: string) => templates[parseReference(image)?.path.split('/').at(-1) ?? '']
