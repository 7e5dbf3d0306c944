import type { Link } from './plan.ts'
import { list } from './text.ts'

/** Client libraries, of all languages, by the service that they talk to. */
const clients: Record<Link['template'], string[]> = {
  postgresql: list(`
    pg postgres pg-promise @neondatabase/serverless psycopg psycopg2 psycopg2-binary asyncpg
    psycopg-binary github.com/lib/pq github.com/jackc/pgx tokio-postgres postgrex org.postgresql
    npgsql npgsql.entityframeworkcore.postgresql ext-pdo_pgsql ext-pgsql`),
  mysql: list(`
    mysql mysql2 mariadb mysqlclient pymysql aiomysql mysql-connector-python
    github.com/go-sql-driver/mysql mysql_async myxql com.mysql mysqlconnector
    pomelo.entityframeworkcore.mysql ext-pdo_mysql ext-mysqli trilogy`),
  mongodb: list(`
    mongodb mongoose pymongo motor mongoengine go.mongodb.org/mongo-driver mongoid mongo
    mongodb.driver ext-mongodb spring-boot-starter-data-mongodb`),
  redis: list(`
    redis ioredis bullmq bull connect-redis django-redis github.com/redis/go-redis
    github.com/go-redis/redis redix stackexchange.redis predis/predis ext-redis sidekiq resque
    spring-boot-starter-data-redis`),
  rabbitmq: list(`
    amqplib pika aio-pika github.com/rabbitmq/amqp091-go lapin bunny rabbitmq.client
    spring-boot-starter-amqp`),
}

/** Services for the packages that a manifest names; one for each kind. */
export function linksOfPackages(has: (name: string) => boolean, manifest: string): Link[] {
  return (Object.keys(clients) as Link['template'][]).flatMap((template) => {
    const client = clients[template].find(has)
    return client === undefined ? [] : [{ template, reason: `${client} in ${manifest}` }]
  })
}
