import { z } from 'zod'
import type { registrySenders } from './store.ts'
import { jsonOrNull } from '../platform/json.ts'
import { dockerHub } from '../registries/image-registry.ts'

export type RegistrySender = (typeof registrySenders)[number] | 'gitea'

/** The names that people see. */
export const registryTitles: Record<RegistrySender, string> = {
  docker_hub: 'Docker Hub',
  ghcr: 'GitHub Packages',
  gitea: 'Gitea or Forgejo',
  harbor: 'Harbor',
  quay: 'Quay',
  distribution: 'Registry',
}

export type NewTag = {
  /** Null where the host in the body may be an internal one. */
  registry: string | null
  path: string
  tag: string
  /** What it shall name, as the body says; null where that doesn't. */
  digest: string | null
}

/** What a registry reports; without tags for something else than a new image. */
export type Notice = { sender: RegistrySender; event: string; tags: NewTag[] }

/** More than a push has. */
const maxTags = 100

const text = z.string().min(1).max(300)
const path = text.transform((name) => name.toLowerCase())
const tagName = z.string().max(300).nullish()
const digestText = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .nullable()
  .catch(null)

const githubPackage = z.object({
  name: path,
  owner: z.object({ login: path }),
  package_type: text,
  package_version: z
    .object({
      container_metadata: z
        .object({ tag: z.object({ name: tagName, digest: digestText }).nullish() })
        .nullish(),
    })
    .nullish(),
})

function ofGithub(action: string, sent: z.output<typeof githubPackage>): Notice {
  const { name, owner, package_type, package_version } = sent
  const { name: tag, digest = null } = package_version?.container_metadata?.tag ?? {}
  const isImage = /^(container|docker)$/i.test(package_type) && action !== 'deleted'
  const tags =
    isImage && tag ? [{ registry: 'ghcr.io', path: `${owner.login}/${name}`, tag, digest }] : []
  return { sender: 'ghcr', event: `package ${action}`, tags }
}

const artifacts = z.object({
  resources: z.array(z.object({ tag: tagName, digest: digestText })).max(1000),
  repository: z.object({ repo_full_name: path }),
})

function ofHarbor(type: string, { resources, repository }: z.output<typeof artifacts>): Notice {
  const isPush = type === 'PUSH_ARTIFACT' || type === 'harbor.artifact.pushed'
  const of = { registry: null, path: repository.repo_full_name }
  const tags = resources.flatMap(({ tag, digest }) =>
    isPush && tag ? [{ ...of, tag, digest }] : [],
  )
  return { sender: 'harbor', event: type, tags }
}

const event = z.object({
  action: text,
  target: z.object({ repository: path, tag: tagName, digest: digestText }),
})

const ofDistribution = (events: z.output<typeof event>[]): Notice => ({
  sender: 'distribution',
  event: [...new Set(events.map(({ action }) => action))].slice(0, 5).join(', '),
  tags: events.flatMap(({ action, target: { repository, tag, digest } }) =>
    action === 'push' && tag ? [{ registry: null, path: repository, tag, digest }] : [],
  ),
})

/** Of several that fit, the first one counts. */
const shapes: z.ZodType<Notice>[] = [
  z
    .object({ push_data: z.object({ tag: text }), repository: z.object({ repo_name: path }) })
    .transform(({ push_data: { tag }, repository }) => ({
      sender: 'docker_hub',
      event: 'push',
      tags: [{ registry: dockerHub, path: repository.repo_name, tag, digest: null }],
    })),
  z
    .object({ action: text, package: githubPackage })
    .transform((body) => ofGithub(body.action, body.package)),
  z
    .object({ action: text, registry_package: githubPackage })
    .transform((body) => ofGithub(body.action, body.registry_package)),
  z
    .object({ zen: text, hook_id: z.number() })
    .transform(() => ({ sender: 'ghcr', event: 'ping', tags: [] })),
  z
    .object({
      action: text,
      package: z.object({
        owner: z.object({ login: path }),
        type: text,
        name: path,
        version: text,
      }),
    })
    .transform(({ action, package: { owner, type, name, version } }) => {
      const isImage = type === 'container' && action === 'created' && !version.includes(':')
      const tag = { registry: null, path: `${owner.login}/${name}`, tag: version, digest: null }
      return { sender: 'gitea', event: `package ${action}`, tags: isImage ? [tag] : [] }
    }),
  z
    .object({ type: text, event_data: artifacts })
    .transform(({ type, event_data }) => ofHarbor(type, event_data)),
  z
    .object({ specversion: text, type: text, data: artifacts })
    .transform(({ type, data }) => ofHarbor(type, data)),
  z
    .object({ repository: path, docker_url: text, updated_tags: z.array(text).max(1000) })
    .transform(({ repository, docker_url, updated_tags }) => ({
      sender: 'quay',
      event: 'push',
      tags: updated_tags.map((tag) => ({
        registry: docker_url.startsWith('quay.io/') ? 'quay.io' : null,
        path: repository,
        tag,
        digest: null,
      })),
    })),
  z
    .object({ events: z.array(event).min(1).max(1000) })
    .transform(({ events }) => ofDistribution(events)),
  event.transform((one) => ofDistribution([one])), // as Azure sends it
]

/** Null for a body that no known registry sends. Call it through `parse` for a long text. */
export function readNotice(json: string): Notice | null {
  const body = jsonOrNull(json)
  for (const shape of shapes) {
    const { data } = shape.safeParse(body)
    if (data) return { ...data, tags: data.tags.slice(0, maxTags) }
  }
  return null
}
