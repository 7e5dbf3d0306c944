import { join } from 'node:path'

export type Recipe = {
  /** Of the catalogue, which says what the image is called. */
  template: string
  /** What its Dockerfile says beyond FROM and PATH. */
  lines: string[]
}

export const recipes: Recipe[] = [
  {
    template: 'postgresql',
    lines: [
      'VOLUME /var/lib/postgresql/data',
      'STOPSIGNAL SIGINT',
      'EXPOSE 5432',
      'CMD ["postgres"]',
    ],
  },
  {
    template: 'mariadb',
    lines: ['VOLUME /var/lib/mysql', 'EXPOSE 3306', 'CMD ["mariadbd"]'],
  },
  {
    template: 'redis',
    lines: ['WORKDIR /data', 'VOLUME /data', 'EXPOSE 6379', 'CMD ["redis-server"]'],
  },
  {
    template: 'rabbitmq',
    lines: [
      'ENV HOME=/var/lib/rabbitmq RABBITMQ_LOGS=-',
      'VOLUME /var/lib/rabbitmq',
      'EXPOSE 5672 15672',
      'CMD ["rabbitmq-server"]',
    ],
  },
]

/** The image that a template wants for its first service. */
export async function imageOf(template: string): Promise<string> {
  const path = join(import.meta.dir, '../../../src/services/templates', `${template}.yaml`)
  const { services } = Bun.YAML.parse(await Bun.file(path).text()) as {
    services: Record<string, { image: string }>
  }
  return Object.values(services)[0]!.image
}

/** A version of PostgreSQL beside the template's, to move an instance to. */
export const nextPostgres = async () => `${await imageOf('postgresql')}-next`
