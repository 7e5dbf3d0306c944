use tiny_http::{Response, Server};

fn main() {
    let port = std::env::var("PORT").expect("PORT");
    let server = Server::http(format!("0.0.0.0:{port}")).expect("a free port");
    for request in server.incoming_requests() {
        let _ = request.respond(Response::from_string(words::GREETING));
    }
}
