// The texts of openapi.json in Korean, by their English. tests/pages/openapi_ko_test.mjs sees that none is missing and none is left over.
// How types and limits are told; see schemas.mjs.
export const phrases = {
  types: { string: "문자열", integer: "정수", number: "숫자", boolean: "참/거짓", object: "객체", array: "배열", anything: "아무 값" },
  or: " 또는 ",
  characters: "자",
  items: "개",
  always: (value) => `항상 ${value}`,
  listOf: (type, item) => `${item}의 ${type}`,
  between: (least, most, unit) => `${least}~${most}${unit}`,
  atLeast: (least, unit) => `${least}${unit} 이상`,
  atMost: (most, unit) => `${most}${unit} 이하`,
  byDefault: (value) => `기본값 ${value}`,
};

export const tags = {
  "councils": "학생회",
  "festivals": "축제",
  "announcements": "공지",
  "lineups": "라인업",
  "schedule": "일정",
  "questions": "질문",
  "lost items": "분실물",
  "users": "사용자",
  "performances": "공연",
  "reservations": "예약",
  "coupons": "쿠폰",
  "pages": "화면",
  "operations": "운영",
  "lab": "실험실",
};

export const texts = {
  "Announcements, seats and coupons under contention.":
    "여러 사람이 한꺼번에 원하는 공지 고정, 좌석, 쿠폰을 다룹니다.",
  "JSON in, JSON out, UTF-8. Unknown request fields are ignored. Times in answers have no offset and are in the service's time zone; those in requests may have one. Errors are `application/problem+json`, Korean by default, English with `Accept-Language: en`; routes of users, performances and reservations add `meta`. Whole numbers may be written in any way (25, 25.0). Every answer has an `X-Request-Id` and `X-Content-Type-Options: nosniff`; answers to logins are `no-store`. A leading `/api` in a path is ignored. HEAD works where GET does; OPTIONS is 204 with `Allow`, a CORS preflight is 204 on every path. Paths that are not here are 404 `ROUTE_NOT_FOUND`, for browsers as a page, other methods 405 `METHOD_NOT_ALLOWED` with `Allow`.":
    "요청과 답변은 UTF-8 JSON입니다. 모르는 요청 필드는 무시합니다. 답변의 시각에는 시차가 없고 서비스의 시간대를 따르며, 요청의 시각에는 시차를 붙일 수 있습니다. 오류는 `application/problem+json`이며 기본은 한국어이고 `Accept-Language: en`이면 영어입니다. 사용자, 공연, 예약 경로의 오류에는 `meta`가 더 있습니다. 정수는 어떻게 써도 됩니다(25, 25.0). 모든 답변에는 `X-Request-Id`와 `X-Content-Type-Options: nosniff`가 있고, 로그인 답변은 `no-store`입니다. 경로 맨 앞의 `/api`는 무시합니다. GET이 되는 곳에서는 HEAD도 됩니다. OPTIONS는 `Allow`가 있는 204이고, CORS 사전 요청은 모든 경로에서 204입니다. 여기에 없는 경로는 404 `ROUTE_NOT_FOUND`이고 브라우저에는 화면으로 답하며, 다른 메서드는 `Allow`가 있는 405 `METHOD_NOT_ALLOWED`입니다.",
  "Accounts of those who run a festival.":
    "축제를 운영하는 학생회의 계정입니다.",
  "Festivals of universities.":
    "대학 축제입니다.",
  "At most 3 pinned per festival.":
    "축제마다 세 개까지 고정됩니다.",
  "Who performs.":
    "누가 공연하는지 알려 줍니다.",
  "The dates of a festival and their events.":
    "축제의 날짜와 그날의 일정입니다.",
  "Questions with their answers, in the order that the council wants.":
    "질문과 답변이며, 학생회가 정한 순서를 따릅니다.",
  "What was found. Pictures are addresses; there are no uploads.":
    "주운 물건입니다. 사진은 주소로 받으며 업로드는 없습니다.",
  "Accounts of the audience.":
    "관객의 계정입니다.",
  "Performances and their seats.":
    "공연과 그 좌석입니다.",
  "One seat, one owner.":
    "좌석 하나에 주인은 한 명입니다.",
  "A stock given out first come, first served.":
    "정해진 수량을 선착순으로 나눠 줍니다.",
  "For people, with a browser.":
    "사람이 브라우저로 보는 화면입니다.",
  "For operators and developers.":
    "운영자와 개발자를 위한 호출입니다.",
  "Races between ways of concurrency control; lab mode only.":
    "동시성 제어 방법끼리의 경주입니다. 실험실 모드에만 있습니다.",
  "Log in as a council or admin":
    "학생회 또는 관리자로 로그인합니다",
  "A token.":
    "토큰입니다.",
  "Make a council account":
    "학생회 계정을 만듭니다",
  "Who: admins.":
    "호출할 수 있는 사람: 관리자.",
  "Made.":
    "만들었습니다.",
  "Change one's own password":
    "자신의 비밀번호를 바꿉니다",
  "Who: councils, admins. Ends all tokens that were issued before, this one included: log in again. A wrong current password is 422 on that field; guesses are limited as logins are.":
    "호출할 수 있는 사람: 학생회, 관리자. 이 토큰을 포함해 그전에 발급된 모든 토큰이 끝나므로 다시 로그인해야 합니다. 현재 비밀번호가 틀리면 그 필드의 422이며, 틀린 시도는 로그인처럼 제한됩니다.",
  "Changed.":
    "바꿨습니다.",
  "Make a festival":
    "축제를 만듭니다",
  "Show a festival":
    "축제를 보여 줍니다",
  "The festival.":
    "축제입니다.",
  "Announce something":
    "공지를 올립니다",
  "Who: councils, admins. In the festival of the token. At most 3 are pinned, whatever arrives at once.":
    "호출할 수 있는 사람: 학생회, 관리자. 토큰의 축제에 올립니다. 무엇이 한꺼번에 와도 세 개까지만 고정됩니다.",
  "List a festival's announcements":
    "축제의 공지 목록을 보여 줍니다",
  "Complete up to 1 MiB; beyond it all pinned ones, the newest unpinned ones that fit, and a `Link` to the rest. At most 100 ms old; a write shows at once on the instance that answered it.":
    "1 MiB까지는 전부 답합니다. 넘으면 고정 공지 전부와 들어갈 수 있는 최신 공지, 그리고 나머지로 가는 `Link`를 답합니다. 최대 100 ms 전의 내용이며, 쓰기는 그 쓰기에 답한 인스턴스에서 바로 보입니다.",
  "Those that are not deleted.":
    "삭제되지 않은 공지입니다.",
  "The client has this version.":
    "클라이언트가 이미 이 버전을 가지고 있습니다.",
  "Change title and content":
    "제목과 내용을 바꿉니다",
  "Who: councils, admins.":
    "호출할 수 있는 사람: 학생회, 관리자.",
  "Delete an announcement":
    "공지를 삭제합니다",
  "Deleted.":
    "삭제했습니다.",
  "Pin or unpin":
    "고정하거나 고정을 풉니다",
  "Who: councils, admins. With `insteadOf` one call swaps two pins: both change, or neither.":
    "호출할 수 있는 사람: 학생회, 관리자. `insteadOf`를 쓰면 한 번의 호출로 두 고정을 맞바꿉니다. 둘 다 바뀌거나 둘 다 그대로입니다.",
  "Pinned or unpinned, or it was so before.":
    "고정했거나 풀었습니다. 또는 이미 그 상태였습니다.",
  "Change the festival of the token":
    "토큰의 축제를 바꿉니다",
  "Where lost items are kept":
    "분실물을 보관하는 곳을 보여 줍니다",
  "As it is.":
    "지금의 내용입니다.",
  "Change the guide to lost items":
    "분실물 안내를 바꿉니다",
  "Find festivals by university":
    "대학 이름으로 축제를 찾습니다",
  "Visible festivals only, the oldest 500.":
    "공개된 축제만, 오래된 것부터 500개까지입니다.",
  "The festivals.":
    "축제들입니다.",
  "List a festival's line-up":
    "축제의 라인업을 보여 줍니다",
  "Add a line-up entry":
    "라인업을 추가합니다",
  "Who: councils, admins. In the festival of the token.":
    "호출할 수 있는 사람: 학생회, 관리자. 토큰의 축제에 추가합니다.",
  "Change a line-up entry":
    "라인업을 바꿉니다",
  "Delete a line-up entry":
    "라인업을 삭제합니다",
  "List a festival's dates":
    "축제의 날짜를 보여 줍니다",
  "Add a date":
    "날짜를 추가합니다",
  "Who: councils, admins. In the festival of the token. A date is there once, whatever arrives at once.":
    "호출할 수 있는 사람: 학생회, 관리자. 토큰의 축제에 추가합니다. 무엇이 한꺼번에 와도 같은 날짜는 하나뿐입니다.",
  "Change a date":
    "날짜를 바꿉니다",
  "Delete a date":
    "날짜를 삭제합니다",
  "Who: councils, admins. With its events.":
    "호출할 수 있는 사람: 학생회, 관리자. 그날의 일정도 함께 삭제됩니다.",
  "List the events of a date":
    "그날의 일정을 보여 줍니다",
  "Add an event":
    "일정을 추가합니다",
  "Change an event":
    "일정을 바꿉니다",
  "Delete an event":
    "일정을 삭제합니다",
  "List a festival's questions":
    "축제의 질문을 보여 줍니다",
  "Add a question":
    "질문을 추가합니다",
  "Who: councils, admins. In the festival of the token. Behind all others: the largest sequence + 1.":
    "호출할 수 있는 사람: 학생회, 관리자. 토큰의 축제에 추가합니다. 다른 모든 질문의 뒤, 곧 가장 큰 sequence + 1에 놓입니다.",
  "Put all questions in another order":
    "모든 질문의 순서를 바꿉니다",
  "Who: councils, admins. Names every question of the festival, each once and each with a sequence of its own; else 422.":
    "호출할 수 있는 사람: 학생회, 관리자. 축제의 모든 질문을 한 번씩, 서로 다른 sequence로 적어야 하며 아니면 422입니다.",
  "Reordered, by sequence.":
    "순서를 바꿨습니다. sequence 순서입니다.",
  "Change a question":
    "질문을 바꿉니다",
  "Delete a question":
    "질문을 삭제합니다",
  "List a festival's lost items":
    "축제의 분실물을 보여 줍니다",
  "Add a lost item":
    "분실물을 추가합니다",
  "Change a lost item":
    "분실물을 바꿉니다",
  "Delete a lost item":
    "분실물을 삭제합니다",
  "Say whether it was picked up":
    "찾아갔는지 기록합니다",
  "Notify everybody who listens":
    "듣고 있는 모두에게 알립니다",
  "Who: councils, admins. Of the announcement's festival. Once in three minutes for each announcement; else 429.":
    "호출할 수 있는 사람: 학생회, 관리자. 그 공지가 속한 축제여야 합니다. 공지마다 3분에 한 번이며, 더 자주 보내면 429입니다.",
  "Sent.":
    "보냈습니다.",
  "Hear notifications as they are sent":
    "알림을 보내는 대로 듣습니다",
  "Server-sent events: `event: notification`, `data` an object as in `Notification`, within a second on every instance. At least once and in order: a client that comes back with `Last-Event-ID` is told what it has missed, for an hour. Browsers say the festival in the query. At most 5,000 streams on an instance, more are 503 `OVERLOADED`; one client address has at most 2,500 event streams of all kinds, more are 429 (both configurable). Without a stream (HEAD, HTTP/1.0, `Connection: close`) the answer is one comment.":
    "서버 전송 이벤트입니다. `event: notification`이고 `data`는 `Notification`과 같은 객체이며, 모든 인스턴스에서 1초 안에 옵니다. 적어도 한 번, 순서대로 옵니다. `Last-Event-ID`를 가지고 돌아온 클라이언트에게는 한 시간 동안 놓친 것을 알려 줍니다. 브라우저는 축제를 쿼리로 적습니다. 인스턴스 하나에 스트림은 5,000개까지이며 넘으면 503 `OVERLOADED`이고, 클라이언트 주소 하나는 모든 종류를 합해 2,500개까지이며 넘으면 429입니다(둘 다 설정 가능). 스트림을 쓸 수 없으면(HEAD, HTTP/1.0, `Connection: close`) 주석 한 줄로 답합니다.",
  "Until the client or the service ends it.":
    "클라이언트나 서비스가 끝낼 때까지 이어집니다.",
  "Register":
    "가입합니다",
  "Registered.":
    "가입했습니다.",
  "Log in":
    "로그인합니다",
  "A token; no envelope.":
    "토큰입니다. 봉투(envelope)는 없습니다.",
  "Make a performance with its seats":
    "공연과 좌석을 만듭니다",
  "List performances":
    "공연 목록을 보여 줍니다",
  "A page, at most 100 ms old.":
    "한 쪽이며 최대 100 ms 전의 내용입니다.",
  "Show a performance":
    "공연을 보여 줍니다",
  "The performance, at most 100 ms old.":
    "공연이며 최대 100 ms 전의 내용입니다.",
  "List a performance's seats":
    "공연의 좌석을 보여 줍니다",
  "All of them on one page, at most 100 ms old.":
    "모든 좌석을 한 쪽에 답하며 최대 100 ms 전의 내용입니다.",
  "A performance's seats, live":
    "공연의 좌석을 실시간으로 알려 줍니다",
  "Who: anyone. Server-sent events. First `snapshot` `{\"sections\":[{\"location\":\"A\",\"count\":100,\"sold\":\"…\"}]}`, where `sold` is a bitmap in base64: bit (n-1) % 8, counted from the lowest, of byte (n-1) / 8 is seat n. Then `changes` `{\"sold\":[[\"A\",7]],\"free\":[[\"B\",2]]}`, at most four times a second; a `snapshot` may come at any time and replaces everything. With `festival`, the festival's notifications come on the same stream, as on `/announcements/events`. A comment comes every 15 s. At most 5,000 streams on an instance, more are 503 `OVERLOADED`; one client address has at most 2,500 event streams of all kinds, more are 429 (both configurable).":
    "누구나 호출할 수 있습니다. 서버 전송 이벤트입니다. 먼저 `snapshot` `{\"sections\":[{\"location\":\"A\",\"count\":100,\"sold\":\"…\"}]}`이 옵니다. `sold`는 base64로 적은 비트맵이며, 바이트 (n-1) / 8의 가장 낮은 비트부터 세어 (n-1) % 8번째 비트가 좌석 n입니다. 이어서 `changes` `{\"sold\":[[\"A\",7]],\"free\":[[\"B\",2]]}`가 1초에 네 번까지 옵니다. `snapshot`은 언제든 다시 올 수 있고 그때까지의 모든 것을 대신합니다. `festival`을 적으면 `/announcements/events`와 같은 그 축제의 알림이 같은 스트림으로 옵니다. 15초마다 주석이 옵니다. 인스턴스 하나에 스트림은 5,000개까지이며 넘으면 503 `OVERLOADED`이고, 클라이언트 주소 하나는 모든 종류를 합해 2,500개까지이며 넘으면 429입니다(둘 다 설정 가능).",
  "Which seats are sold, and every change.":
    "어느 좌석이 팔렸는지, 그리고 모든 변화입니다.",
  "List one's own reservations of a performance":
    "한 공연의 자기 예약을 보여 줍니다",
  "Who: users. The newest first, at most 500.":
    "호출할 수 있는 사람: 사용자. 최신 것부터 500개까지입니다.",
  "All on one page; none when there is no such performance.":
    "한 쪽에 전부 답하며, 그런 공연이 없으면 비어 있습니다.",
  "Reserve a seat":
    "좌석을 예약합니다",
  "Who: users, admins. One seat has one owner, whatever arrives at once.":
    "호출할 수 있는 사람: 사용자, 관리자. 무엇이 한꺼번에 와도 좌석 하나에 주인은 한 명입니다.",
  "The seat is the user's.":
    "좌석이 그 사용자의 것이 되었습니다.",
  "Cancel a reservation":
    "예약을 취소합니다",
  "Who: its user, admins.":
    "호출할 수 있는 사람: 예약한 사용자, 관리자.",
  "The seat is free again.":
    "좌석이 다시 비었습니다.",
  "List a performance's reservations":
    "공연의 예약 목록을 보여 줍니다",
  "A page.":
    "한 쪽입니다.",
  "Show a reservation":
    "예약을 보여 줍니다",
  "The reservation.":
    "예약입니다.",
  "Make a coupon":
    "쿠폰을 만듭니다",
  "Show a coupon":
    "쿠폰을 보여 줍니다",
  "The coupon.":
    "쿠폰입니다.",
  "Claim a coupon":
    "쿠폰을 신청합니다",
  "Who: users. First come, first served. Takes no body. With a queue as strategy the answer is 202, and the claim is decided later, in the order of arrival.":
    "호출할 수 있는 사람: 사용자. 선착순입니다. 본문은 없습니다. 전략이 큐이면 202로 답하고, 나중에 도착한 순서대로 결정합니다.",
  "One is the caller's.":
    "쿠폰 하나가 호출한 사람의 것이 되었습니다.",
  "Accepted; it will be decided in its turn. Ask at Location.":
    "접수했습니다. 차례가 되면 결정되며 Location에서 확인합니다.",
  "Where the claim can be read.":
    "신청을 읽을 수 있는 주소입니다.",
  "The claim as it is":
    "신청의 지금 상태를 보여 줍니다",
  "Who: the user whose claim it is.":
    "호출할 수 있는 사람: 신청한 사용자.",
  "The claim as it is.":
    "신청의 지금 상태입니다.",
  "The claim on every change":
    "신청이 바뀔 때마다 알려 줍니다",
  "Who: the user whose claim it is. Server-sent events; each has the claim as JSON. The stream ends when the claim is DONE or FAILED, and when the token ends. A user has at most 5 streams on an instance, more are 429, and all users together at most 1,000, more are 503 `OVERLOADED` (both configurable).":
    "호출할 수 있는 사람: 신청한 사용자. 서버 전송 이벤트이며, 이벤트마다 신청이 JSON으로 들어 있습니다. 신청이 DONE이나 FAILED가 되거나 토큰이 끝나면 스트림도 끝납니다. 인스턴스 하나에서 사용자 한 명의 스트림은 5개까지이고 넘으면 429, 모든 사용자를 합쳐 1,000개까지이고 넘으면 503 `OVERLOADED`입니다(둘 다 설정 가능).",
  "The claim on every change.":
    "바뀔 때마다 온 신청입니다.",
  "Whether the process is alive":
    "프로세스가 살아 있는지 알려 줍니다",
  "It is.":
    "살아 있습니다.",
  "Whether requests should come here":
    "요청을 이곳으로 보내도 되는지 알려 줍니다",
  "Ready, perhaps degraded.":
    "준비되었습니다. 일부 기능이 떨어져 있을 수 있습니다.",
  "Draining, or the database does not answer. As a problem when this instance refuses everything.":
    "종료를 준비하고 있거나 데이터베이스가 답하지 않습니다. 이 인스턴스가 모든 요청을 거절할 때는 problem으로 답합니다.",
  "Prometheus metrics":
    "Prometheus 메트릭입니다",
  "Rendered at most once a second. With `metrics.port` configured they are served at that port, and here is 404.":
    "1초에 한 번까지 새로 만듭니다. `metrics.port`를 설정하면 그 포트에서 제공하고 이곳은 404입니다.",
  "Metrics.":
    "메트릭입니다.",
  "Who holds and who waits":
    "누가 락을 잡고 누가 기다리는지 보여 줍니다",
  "A picture, old when it is read.":
    "읽을 때는 이미 지난 순간의 모습입니다.",
  "One instance at a glance":
    "인스턴스 하나를 한눈에 보여 줍니다",
  "Who: admins. Holders and waiters, waits and holds of the last minutes, counters, queues, loops, limits, health; the other instances by the rows that they write every two seconds.":
    "호출할 수 있는 사람: 관리자. 락을 잡은 요청과 기다리는 요청, 최근 몇 분의 대기와 보유 시간, 카운터, 큐, 이벤트 루프, 한도, 상태를 답합니다. 다른 인스턴스는 그들이 2초마다 쓰는 행으로 보여 줍니다.",
  "Start a race":
    "경주를 시작합니다",
  "Lab mode only. Who: admins, from our own page on this machine (`Origin` is the address at loopback that the request went to). The service sends a crowd through its own door. One race at a time.":
    "실험실 모드에만 있습니다. 호출할 수 있는 사람: 이 컴퓨터에서 우리 화면을 쓰는 관리자(`Origin`이 요청을 보낸 루프백 주소여야 합니다). 서비스가 자신의 문으로 군중을 들여보냅니다. 경주는 한 번에 하나입니다.",
  "It runs.":
    "달리고 있습니다.",
  "Of the race.":
    "경주의 주소입니다.",
  "The last races, and what a race can be about":
    "지난 경주와 경주할 수 있는 것을 보여 줍니다",
  "Lab mode only.":
    "실험실 모드에만 있습니다.",
  "The newest first, at most five.":
    "최신 것부터 다섯 개까지입니다.",
  "A race with all its lanes":
    "경주를 모든 레인과 함께 보여 줍니다",
  "Lab mode only. Each strategy's verdict is read from the database.":
    "실험실 모드에만 있습니다. 전략마다의 판정은 데이터베이스에서 읽습니다.",
  "What is known of it.":
    "지금까지 알려진 내용입니다.",
  "A race while it runs":
    "달리는 동안의 경주를 알려 줍니다",
  "Lab mode only. Events from its beginning: `race`, then for each strategy `side`, `lanes` again and again, `verdict`; at last `end`.":
    "실험실 모드에만 있습니다. 처음부터의 이벤트입니다. `race`, 이어서 전략마다 `side`, 되풀이되는 `lanes`, `verdict`, 마지막으로 `end`가 옵니다.",
  "A stream that ends with the race.":
    "경주와 함께 끝나는 스트림입니다.",
  "This document":
    "이 문서입니다",
  "OpenAPI 3.1.":
    "OpenAPI 3.1 문서입니다.",
  "What this is, and the way to every page":
    "이 서비스가 무엇인지, 그리고 모든 화면으로 가는 길입니다",
  "The page.":
    "화면입니다.",
  "The hall of a performance as a map, live: buy and cancel":
    "공연장을 실시간 지도로 보며 사고 취소합니다",
  "404 if there is no such performance. While the database does not answer, the page is there all the same.":
    "그런 공연이 없으면 404입니다. 데이터베이스가 답하지 않는 동안에는 그래도 화면을 보여 줍니다.",
  "The performance.":
    "공연입니다.",
  "The desk of a council: announcements and pins":
    "학생회의 책상입니다: 공지와 고정",
  "What the pages load":
    "화면이 불러오는 파일입니다",
  "Changes with the files.":
    "파일이 바뀌면 함께 바뀝니다.",
  "The file. Under the version that the pages name it can be kept for ever; under another one it is the same file, to be asked for again.":
    "파일입니다. 화면이 적은 버전으로 부르면 계속 보관해도 되고, 다른 버전으로 부르면 같은 파일이지만 매번 다시 물어야 합니다.",
  "Whether it can be kept.":
    "보관해도 되는지 알려 줍니다.",
  "A crowd races for a prize: ways of concurrency control side by side":
    "군중이 상품 하나를 두고 경주하며, 동시성 제어 방법을 나란히 비교합니다",
  "One instance at this moment: locks, waits, queues, health":
    "이 순간의 인스턴스 하나입니다: 락, 대기, 큐, 상태",
  "This document for people, with a place to try each call":
    "사람이 읽는 이 문서이며, 호출을 하나하나 해 볼 수 있습니다",
  "The `accessToken` of a login.":
    "로그인 답변의 `accessToken`입니다.",
  "A positive 64-bit number without sign or leading zero.":
    "부호와 앞자리 0이 없는 64비트 양의 정수입니다.",
  "Which festival is meant.":
    "어느 축제인지 적습니다.",
  "A part of the name, in any case; absent: all.":
    "이름의 일부이며 대소문자를 가리지 않습니다. 없으면 전부입니다.",
  "The festival; comes before the header.":
    "축제입니다. 헤더보다 먼저 봅니다.",
  "The festival, unless it is in the query.":
    "축제입니다. 쿼리에 적었으면 없어도 됩니다.",
  "The `id` of the last event that the client has.":
    "클라이언트가 받은 마지막 이벤트의 `id`입니다.",
  "Repeats with the same key, path and body get the first answer, byte for byte, for 24 hours.":
    "같은 키, 경로, 본문으로 되풀이하면 24시간 동안 첫 답변을 바이트 하나까지 그대로 받습니다.",
  "Tags that the client has; 304 if the newest is among them.":
    "클라이언트가 가진 태그이며, 최신 태그가 있으면 304입니다.",
  "From 0. Excludes `after`: both together are 400 `INVALID_PARAMETER`.":
    "0부터입니다. `after`와 함께 쓸 수 없으며, 둘 다 있으면 400 `INVALID_PARAMETER`입니다.",
  "Items per page.":
    "한 쪽의 항목 수입니다.",
  "The last id of the page before; costs the same however deep it is. Excludes `page`: both together are 400 `INVALID_PARAMETER`.":
    "앞 쪽의 마지막 id입니다. 아무리 깊어도 비용이 같습니다. `page`와 함께 쓸 수 없으며, 둘 다 있으면 400 `INVALID_PARAMETER`입니다.",
  "Only unpinned ones older than this announcement, which need not exist any more. Links have it.":
    "이 공지보다 오래된 고정되지 않은 공지만 답합니다. 이 공지는 이미 없어도 됩니다. Link에 적혀 있습니다.",
  "Only seats of this section.":
    "이 구역의 좌석만 답합니다.",
  "In lab mode: how this request is protected, as configured if absent. The queues are for coupons; those on servers need them configured. Ignored elsewhere.":
    "실험실 모드에서 이 요청을 보호하는 방법입니다. 없으면 설정을 따릅니다. 큐는 쿠폰에만 쓰고, 서버가 필요한 전략은 그 서버가 설정되어 있어야 합니다. 다른 모드에서는 무시합니다.",
  "In lab mode: whether fence and constraints protect as well. If absent, off with X-Concurrency and on without. Ignored elsewhere.":
    "실험실 모드에서 펜스와 제약 조건도 함께 보호할지 정합니다. 없으면 X-Concurrency가 있을 때 꺼지고 없을 때 켜집니다. 다른 모드에서는 무시합니다.",
  "In lab mode: a fault just before COMMIT, `release-before-commit`, `throw-before-commit`, `throw-number-before-commit` or `pause-before-commit=<ms>` with up to 60000. A queue ignores it. Ignored elsewhere.":
    "실험실 모드에서 COMMIT 직전에 일으키는 고장입니다. `release-before-commit`, `throw-before-commit`, `throw-number-before-commit` 또는 60000까지의 `pause-before-commit=<ms>`입니다. 큐는 무시합니다. 다른 모드에서는 무시합니다.",
  "Names the request in the log; the client's own if it is sane.":
    "로그에서 요청을 찾는 이름이며, 클라이언트가 보낸 값이 올바르면 그 값입니다.",
  "Seconds.":
    "초입니다.",
  "Seconds; with SEAT_BUSY and REQUEST_IN_PROGRESS.":
    "초입니다. SEAT_BUSY와 REQUEST_IN_PROGRESS에 있습니다.",
  "The scheme.":
    "인증 방식입니다.",
  "A hash of the content.":
    "내용의 해시입니다.",
  "Ask again with If-None-Match, or always.":
    "If-None-Match로 다시 묻거나 매번 물어야 합니다.",
  "The page that follows, if there is one.":
    "다음 쪽이 있으면 그 주소입니다.",
  "Nothing is loaded from elsewhere.":
    "다른 곳에서는 아무것도 불러오지 않습니다.",
  "A path, header or query value is not valid; `errors` names it and says why. Lists that are answered as a whole say so to `page`, `perPage` and `after`.":
    "경로, 헤더 또는 쿼리 값이 올바르지 않습니다. `errors`가 그 값의 이름과 이유를 알려 줍니다. 전부 답하는 목록은 `page`, `perPage`, `after`를 이렇게 거절합니다.",
  "A page that says so.":
    "그렇게 알려 주는 화면입니다.",
  "The body is not one JSON object, or a path or header value is not valid; `errors` names the value and says why.":
    "본문이 JSON 객체 하나가 아니거나 경로 또는 헤더 값이 올바르지 않습니다. `errors`가 그 값의 이름과 이유를 알려 줍니다.",
  "No token, or not one of ours, or expired.":
    "토큰이 없거나, 우리 것이 아니거나, 끝났습니다.",
  "Name or password is wrong.":
    "아이디 또는 비밀번호가 틀렸습니다.",
  "The caller's role, or whose it is, does not allow it.":
    "호출한 사람의 역할이 맞지 않거나 그 사람의 것이 아닙니다.",
  "Not the caller's role, or another festival's announcement.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 공지입니다.",
  "No such festival.":
    "그런 축제가 없습니다.",
  "No such announcement, or it was deleted.":
    "그런 공지가 없거나 삭제되었습니다.",
  "No such announcement, or the caller's festival is gone.":
    "그런 공지가 없거나 호출한 사람의 축제가 없어졌습니다.",
  "Not the caller's role, or another festival's line-up entry.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 라인업입니다.",
  "No such line-up entry.":
    "그런 라인업이 없습니다.",
  "Not the caller's role, or another festival's event date.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 날짜입니다.",
  "No such event date.":
    "그런 날짜가 없습니다.",
  "Not the caller's role, or another festival's event.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 일정입니다.",
  "No such event, or no such event date.":
    "그런 일정이나 날짜가 없습니다.",
  "Not the caller's role, or another festival's question.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 질문입니다.",
  "No such question.":
    "그런 질문이 없습니다.",
  "Not the caller's role, or another festival's lost item.":
    "호출한 사람의 역할이 맞지 않거나 다른 축제의 분실물입니다.",
  "No such lost item.":
    "그런 분실물이 없습니다.",
  "The festival has 500 of these, or the first request with this key still runs.":
    "축제에 이미 500개가 있거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "The festival has this date, or 500 dates, or the first request with this key still runs.":
    "축제에 이 날짜가 이미 있거나 날짜가 500개이거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "Notified within the last three minutes, or too many requests.":
    "최근 3분 안에 알렸거나 요청이 너무 많습니다.",
  "No such place.":
    "그런 공연장이 없습니다.",
  "No such performance.":
    "그런 공연이 없습니다.",
  "No such performance, or no such festival.":
    "그런 공연이나 축제가 없습니다.",
  "No such performance, seat or user.":
    "그런 공연, 좌석 또는 사용자가 없습니다.",
  "No such reservation, or it was cancelled.":
    "그런 예약이 없거나 취소되었습니다.",
  "No such coupon.":
    "그런 쿠폰이 없습니다.",
  "It is not served at this port, or there is no such file. A page for those who ask for HTML.":
    "이 포트에서 제공하지 않거나 그런 파일이 없습니다. HTML을 원하면 화면으로 답합니다.",
  "No such coupon, or the caller is gone.":
    "그런 쿠폰이 없거나 호출한 사람의 계정이 없어졌습니다.",
  "The first request with this Idempotency-Key still runs.":
    "이 Idempotency-Key의 첫 요청을 아직 처리하고 있습니다.",
  "The name is taken, or the first request with this key still runs.":
    "이미 쓰이는 이름이거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "The login name is taken.":
    "이미 쓰이는 아이디입니다.",
  "Three are pinned already, or the first request with this key still runs.":
    "이미 세 개가 고정되어 있거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "More seats than the place has, or the first request with this key still runs.":
    "공연장의 좌석 수보다 많거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "SEAT_BUSY: somebody is buying it now and may yet fail. ALREADY_RESERVED_SEAT: it is sold.":
    "SEAT_BUSY: 지금 다른 사람이 사고 있으며 실패할 수도 있습니다. ALREADY_RESERVED_SEAT: 이미 팔렸습니다.",
  "None left, or claimed before, or the first request with this key still runs.":
    "남은 쿠폰이 없거나 이미 받았거나, 이 키의 첫 요청을 아직 처리하고 있습니다.",
  "The headers or the body came too slowly; the connection is closed.":
    "헤더나 본문이 너무 느리게 와서 연결을 닫습니다.",
  "The body is larger than 1 MB.":
    "본문이 1 MB보다 큽니다.",
  "The body is not declared as application/json.":
    "본문을 application/json으로 선언하지 않았습니다.",
  "Fields are not valid.":
    "올바르지 않은 필드가 있습니다.",
  "Fields are not valid, or the Idempotency-Key was used for another request.":
    "올바르지 않은 필드가 있거나, 이 Idempotency-Key를 다른 요청에 썼습니다.",
  "The Idempotency-Key was used for another request.":
    "이 Idempotency-Key를 다른 요청에 썼습니다.",
  "Too many requests of this address or caller, or too many streams of this user.":
    "이 주소나 호출한 사람의 요청이 너무 많거나, 이 사용자의 스트림이 너무 많습니다.",
  "The headers are too large; the connection is closed.":
    "헤더가 너무 커서 연결을 닫습니다.",
  "Our fault.":
    "서비스의 잘못입니다.",
  "Our fault. COMMIT_UNCONFIRMED: the outcome is unknown; read before repeating, or repeat with the same Idempotency-Key.":
    "서비스의 잘못입니다. COMMIT_UNCONFIRMED: 결과를 알 수 없습니다. 되풀이하기 전에 읽어 보거나 같은 Idempotency-Key로 되풀이하십시오.",
  "This instance is stopping.":
    "이 인스턴스가 종료하고 있습니다.",
  "Too much at once, or this instance is stopping.":
    "한꺼번에 너무 많거나 이 인스턴스가 종료하고 있습니다.",
  "Nothing was stored; try again later.":
    "저장된 것이 없습니다. 나중에 다시 시도하십시오.",
  "There is no such claim.":
    "그런 신청이 없습니다.",
  "There is no such race; or this service is no lab.":
    "그런 경주가 없거나 이 서비스가 실험실 모드가 아닙니다.",
  "This service is no lab.":
    "이 서비스는 실험실 모드가 아닙니다.",
  "Without offset, in the service's time zone.":
    "시차가 없으며 서비스의 시간대를 따릅니다.",
  "`yyyy-MM-dd HH:mm:ss`, or ISO 8601, which may end with an offset (`Z`, `+09:00`). Without one it is in the service's time zone.":
    "`yyyy-MM-dd HH:mm:ss` 또는 ISO 8601이며, ISO 8601은 시차(`Z`, `+09:00`)로 끝날 수 있습니다. 시차가 없으면 서비스의 시간대를 따릅니다.",
  "A login name, in any Unicode spelling.":
    "아이디이며 유니코드 표기는 가리지 않습니다.",
  "A login name: at most 50 characters in NFC, in which it is kept; no control, format, bidirectional or other invisible characters, no space at the ends.":
    "아이디입니다. NFC로 저장하며 NFC로 50자까지입니다. 제어, 서식, 양방향 문자 등 보이지 않는 문자를 쓸 수 없고, 앞뒤에 공백을 둘 수 없습니다.",
  "Not before startDate.":
    "startDate보다 빠를 수 없습니다.",
  "A new festival is not shown to users yet.":
    "새 축제는 아직 사용자에게 보이지 않습니다.",
  "Always empty; clients expect it.":
    "항상 비어 있습니다. 클라이언트가 기대하는 필드입니다.",
  "Another announcement of the festival, which is unpinned in the same transaction: it makes room. Only with a pin.":
    "같은 축제의 다른 공지. 같은 트랜잭션에서 고정이 풀려 자리를 내줍니다. 고정할 때만 쓸 수 있습니다.",
  "All facts hold.":
    "모든 사실이 지켜졌습니다.",
  "`lucky`: all facts hold, but nothing protected them: a control, a lock inside one process on several instances, or one released before COMMIT, without the backstop.":
    "`lucky`: 모든 사실이 지켜졌지만 지켜 준 것은 없습니다. 대조군이거나, 여러 인스턴스에서 한 프로세스 안의 잠금이거나, COMMIT 전에 풀린 잠금이며, 백스톱이 없습니다.",
  "Locks granted, and how many of them were overtaken: their request had been received by the lock's storage before the one that was granted before it was sent.":
    "내준 잠금의 수와 그 가운데 앞질린 수. 앞질린 것은 먼저 잠금을 받은 요청이 보내지기도 전에 그 요청이 잠금 저장소에 닿아 있던 것입니다.",
  "At most 3 in normal service, newest first.":
    "정상 운영에서는 세 개까지이며 최신 것부터입니다.",
  "Newest first.":
    "최신 것부터입니다.",
  "Empty: there is none.":
    "비어 있으면 없다는 뜻입니다.",
  "By performanceAt.":
    "performanceAt 순서입니다.",
  "By date.":
    "날짜 순서입니다.",
  "By the clock. An end before the start is on the next day.":
    "시계의 시각이며, 시작보다 이른 끝은 다음 날입니다.",
  "By time.":
    "시간 순서입니다.",
  "By sequence.":
    "sequence 순서입니다.",
  "0 in answers to `after`.":
    "`after`로 읽은 답변에서는 0입니다.",
  "The login name.":
    "아이디입니다.",
  "The number that a reservation's `userId` wants.":
    "예약의 `userId`에 적는 번호입니다.",
  "No end before its start.":
    "끝이 시작보다 빠를 수 없습니다.",
  "Each location once.":
    "같은 구역은 한 번만 적습니다.",
  "The number of the caller, who is meant if it is absent; an admin has to name a user, who may be anyone.":
    "호출한 사람의 번호이며, 없으면 호출한 사람입니다. 관리자는 사용자를 적어야 하며 누구든 적을 수 있습니다.",
  "From 1, without gaps, in the order of the grants.":
    "1부터 빈 번호 없이, 받은 순서대로입니다.",
  "What is away while reads still work.":
    "읽기는 되지만 지금 쓸 수 없는 부분입니다.",
  "In this state for so long.":
    "이 상태가 이어진 시간입니다.",
  "null: it never ends by itself.":
    "null이면 스스로 끝나지 않습니다.",
  "Waiters here by strategy.":
    "이 인스턴스에서 기다리는 요청을 전략별로 셉니다.",
  "Holds of all instances that share Redis; null: Redis is away.":
    "Redis를 함께 쓰는 모든 인스턴스가 잡은 락이며, null이면 Redis가 답하지 않습니다.",
  "`none`: not configured.":
    "`none`이면 설정되지 않았습니다.",
  "How far back it goes.":
    "얼마나 오래전까지인지 나타냅니다.",
  "Upper ends of the buckets; there is one more above.":
    "구간의 위쪽 끝이며, 그 위에 구간이 하나 더 있습니다.",
  "Since the instance's start.":
    "인스턴스가 시작한 뒤로 센 값입니다.",
  "The longest that an event loop was late lately.":
    "최근에 이벤트 루프가 가장 오래 늦은 시간입니다.",
  "This one included; null: the database does not answer.":
    "이 인스턴스도 들어 있으며, null이면 데이터베이스가 답하지 않습니다.",
  "`pins`: all pin an announcement of one festival. `hot-seat`: all want one seat. `opening-second`: twice as many people as seats within a second. `coupon`: twice as many people as coupons.":
    "`pins`: 모두가 한 축제의 공지를 고정합니다. `hot-seat`: 모두가 한 좌석을 원합니다. `opening-second`: 1초 안에 좌석의 두 배만큼 사람이 옵니다. `coupon`: 쿠폰의 두 배만큼 사람이 옵니다.",
  "As in `X-Concurrency`; no queue.":
    "`X-Concurrency`와 같으며 큐는 쓸 수 없습니다.",
  "A second strategy, run after the first with the same crowd.":
    "두 번째 전략이며, 첫 번째가 끝난 뒤 같은 군중으로 달립니다.",
  "Absent: false.":
    "없으면 false입니다.",
  "Of the crowd; absent: by chance.":
    "군중의 시드이며, 없으면 무작위입니다.",
  "Seconds since 1970.":
    "1970년부터의 초입니다.",
  "This lab has what it needs.":
    "이 실험실에 필요한 것이 있습니다.",
  "For coupons only.":
    "쿠폰에만 씁니다.",
  "False: a control, known to fail.":
    "false이면 깨진다고 알려진 대조군입니다.",
  "Why it could not be run to its end.":
    "끝까지 달리지 못한 이유입니다.",
  "Seats, or the coupon's stock, or 3 pins.":
    "좌석 수, 쿠폰 수량 또는 고정 세 개입니다.",
  "What stands where in a lane. Moments are microseconds after the start; null: it did not happen.":
    "레인의 어느 자리에 무엇이 있는지 나타냅니다. 시각은 시작 뒤의 마이크로초이며, null이면 일어나지 않았습니다.",
  "Answers that were a success.":
    "성공한 답변의 수입니다.",
  "Of them, more than there may be.":
    "그 가운데 있을 수 있는 수를 넘은 것입니다.",
  "Read from the database.":
    "데이터베이스에서 읽습니다.",
  "Percentiles of answers, of waits for the lock and of holds.":
    "답변, 락 대기, 보유 시간의 백분위수입니다.",
  "Pairs of lanes (by their place in `lanes`) whose transactions broke the rule together.":
    "트랜잭션이 함께 규칙을 어긴 레인의 쌍이며, `lanes`에서의 자리로 적습니다.",
  "In the order of the answers.":
    "답변한 순서대로입니다.",
  "A field of the body, or a parameter.":
    "본문의 필드 또는 매개변수입니다.",
  "Where a parameter is, `request` if it is not valid HTTP; with INVALID_PARAMETER.":
    "매개변수가 있는 곳이며, 올바른 HTTP가 아니면 `request`입니다. INVALID_PARAMETER에 있습니다.",
  "What went wrong (RFC 9457).":
    "무엇이 잘못되었는지 알려 줍니다(RFC 9457).",
  "Same as `code`.":
    "`code`와 같습니다.",
  "The path that was asked for.":
    "요청한 경로입니다.",
  "What a person should read: Korean, or English if Accept-Language prefers it.":
    "사람이 읽을 글입니다. 한국어이며, Accept-Language가 영어를 원하면 영어입니다.",
  "What is wrong, each by its name. Of VALIDATION_FAILED and INVALID_PARAMETER.":
    "잘못된 것을 이름별로 알려 줍니다. VALIDATION_FAILED와 INVALID_PARAMETER에 있습니다.",
  "Claims of this coupon that are still to be decided before it.":
    "이 신청보다 먼저 결정될, 같은 쿠폰의 신청 수입니다.",
  "NEW, then PROCESSED (admitted) and DONE, or FAILED.":
    "NEW, 이어서 PROCESSED(받아들여짐)와 DONE이거나 FAILED입니다.",
  "Why it FAILED.":
    "FAILED인 이유입니다.",
};
