// The command against the real handlers, without a network between them.

#include "source/cli/cli.h"

#include <sstream>

#include "test/admin/fixture.h"

namespace forebay {
namespace {

class CliTest : public AdminTest {
protected:
  // Hands requests to the Admin under test, or answers what the test says.
  class DirectClient final : public AdminClient {
  public:
    explicit DirectClient(CliTest& test) : test_(test) {}
    absl::StatusOr<HttpResponse> send(std::string_view method, std::string_view target,
                                      std::string_view body) override {
      test_.requests_.push_back(cat(method, " ", target, body.empty() ? "" : " ", body));
      if (test_.answer_) {
        return *test_.answer_;
      }
      const AdminResponse response =
          test_.admin_.handle({std::string(method), std::string(target), std::string(body)});
      return HttpResponse{response.status, response.body};
    }

  private:
    CliTest& test_;
  };

  int run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const auto connect =
        [&](const std::string& url) -> absl::StatusOr<std::unique_ptr<AdminClient>> {
      url_ = url;
      if (const absl::StatusOr<HttpAddress> address = parseUrl(url); !address.ok()) {
        return address.status();
      }
      return std::make_unique<DirectClient>(*this);
    };
    const auto accept_loss = [&](const std::string& path) {
      requests_.push_back("accept-loss " + path);
      return loss_;
    };
    const int code = runCli(arguments, {out, err, connect, accept_loss});
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  std::optional<absl::StatusOr<HttpResponse>> answer_;
  absl::StatusOr<std::string> loss_ = std::string("{\"missing\":2,\"revived\":0,\"kept\":7}\n");
  std::vector<std::string> requests_;
  std::string url_;
  std::string out_;
  std::string err_;
};

TEST_F(CliTest, HelpAndVersionWorkWithoutAServer) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const std::string command : {"status", "events", "event ID", "replay", "upstreams", "pause",
                                    "resume", "store accept-loss PATH"}) {
    EXPECT_NE(out_.find("forebay " + command), std::string::npos) << command;
  }
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(out_, "forebay 0.1.0\n");
  EXPECT_TRUE(requests_.empty());
}

TEST_F(CliTest, WrongUsageIsExitCode2AndAsksNobody) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "no command"},
      {{"statuss"}, "\"statuss\": unknown command"},
      {{"tail"}, "unknown command"},
      {{"status", "now"}, "\"now\": unexpected"},
      {{"status", "--limit", "5"}, "--limit: not an option of status"},
      {{"events", "--stat", "dead"}, "--stat: unknown option"},
      {{"events", "-s", "dead"}, "-s: unknown option"},
      {{"events", "--state"}, "--state: wants a value"},
      {{"events", "--state", "dead", "--state=dead"}, "--state: given twice"},
      {{"events", "--json=1"}, "--json: takes no value"},
      {{"events", "--dry-run"}, "--dry-run: not an option of events"},
      {{"event"}, "wants one ID"},
      {{"event", "a", "b"}, "wants one ID"},
      {{"replay"}, "either IDs or a filter"},
      {{"replay", "--dry-run"}, "either IDs or a filter"},
      {{"replay", "ID", "--state", "dead"}, "either IDs or a filter"},
      {{"replay", "ID", "--rate", "fast"}, "--rate: \"fast\""},
      {{"replay", "ID", "--rate", "0"}, "--rate: \"0\""},
      {{"replay", "ID", "--limit", "5"}, "--limit: not an option of replay"},
      {{"pause"}, "wants one UPSTREAM"},
      {{"resume", ""}, "wants one UPSTREAM"},
      {{"status", "--url", "https://x"}, "--url: \"https://x\""},
      {{"store"}, "wants accept-loss and a PATH"},
      {{"store", "accept-loss"}, "wants accept-loss and a PATH"},
      {{"store", "accept-loss", ""}, "wants accept-loss and a PATH"},
      {{"store", "verify", "/x"}, "wants accept-loss and a PATH"},
      {{"store", "accept-loss", "/x", "/y"}, "wants accept-loss and a PATH"},
      {{"store", "accept-loss", "/x", "--url", "http://x"}, "--url: not an option of store"},
  };
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(run(arguments), 2) << message;
    EXPECT_NE(err_.find(message), std::string::npos) << err_;
    EXPECT_EQ(out_, "");
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(CliTest, EventsAreATable) {
  v1::EventRecord record = makeRecord("mail");
  record.set_path("/\x1b[31mred");
  const std::string first = capture().toString();
  const std::string second = capture(record).toString();
  EXPECT_EQ(run({"events"}), 0) << err_;
  EXPECT_EQ(url_, "http://127.0.0.1:9901");
  EXPECT_EQ(out_, cat("ID                          STATE    SOURCE  UPSTREAM  ATTEMPTS  "
                      "RECEIVED_AT                  LAST_OUTCOME  METHOD  PATH\n",
                      second,
                      "  pending  shop    mail      0         2026-03-01T12:00:00.001000Z  -"
                      "             POST    /\\u001b[31mred\n",
                      first,
                      "  pending  shop    billing   0         2026-03-01T12:00:00.000000Z  -"
                      "             POST    /hooks?a=1\n"));
  EXPECT_EQ(run({"events", "--limit=1"}), 0);
  EXPECT_NE(out_.find(cat("\nmore: --cursor ", second, "\n")), std::string::npos) << out_;
  EXPECT_EQ(run({"events", "--state", "dead"}), 0);
  EXPECT_EQ(out_, "no events\n");
}

TEST_F(CliTest, OptionsReachTheServerEncoded) {
  run({"events", "--q", "a&b=%\xff c+", "--since=-2h", "--source", "shop", "--limit", "7", "--url",
       "http://envoy:1"});
  EXPECT_EQ(url_, "http://envoy:1");
  EXPECT_EQ(requests_.back(),
            "GET /forebay/events?source=shop&since=-2h&q=a%26b%3D%25%FF%20c%2B&limit=7");
  EXPECT_EQ(err_, "");
  run({"replay", "--state", "dead", "--q", "\"x\"", "--rate", "60", "--dry-run"});
  EXPECT_EQ(requests_.back(),
            R"(POST /forebay/replay {"filter":{"state":"dead","q":"\"x\""},"rate_per_minute":60,)"
            R"("dry_run":true})");
  run({"replay", "--", "A", "--b"});
  EXPECT_EQ(requests_.back(), R"(POST /forebay/replay {"ids":["A","--b"]})");
  run({"pause", "a b"});
  EXPECT_EQ(requests_.back(), "POST /forebay/pause?upstream=a%20b");
}

TEST_F(CliTest, OneEventIsLinesAndTables) {
  v1::EventRecord record = makeRecord();
  v1::Header& header = *record.add_headers();
  header.set_name("x-a");
  header.set_value("1");
  const std::string id = capture(record).toString();
  EXPECT_EQ(run({"event", id}), 0);
  EXPECT_EQ(out_, cat("id: ", id,
                      "\nstate: pending\nsource: shop\nupstream: billing\nverified: none\n"
                      "received_at: 2026-03-01T12:00:00.000000Z\nmethod: POST\npath: /hooks?a=1\n"
                      "body_bytes: 5\nattempts: 0\n"
                      "next_attempt_at: 2026-03-01T12:00:00.000000Z\n"
                      "\nheaders:\nNAME  VALUE\nx-a   1\n"));
}

TEST_F(CliTest, StatusUpstreamsReplayPauseAndResume) {
  const std::string id = capture().toString();
  EXPECT_EQ(run({"status"}), 0);
  EXPECT_NE(out_.find("version: 0.1.0\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("store.path: /var/lib/forebay\n"), std::string::npos);
  EXPECT_NE(out_.find("totals.pending: 1\n"), std::string::npos);
  EXPECT_NE(out_.find("\nupstreams:\nNAME     CLUSTER"), std::string::npos) << out_;
  EXPECT_EQ(run({"upstreams"}), 0);
  EXPECT_NE(out_.find("\nbilling  billing_app  closed   false   1"), std::string::npos) << out_;
  EXPECT_EQ(run({"replay", id}), 0) << err_;
  EXPECT_NE(out_.find("state: running\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("matched: 1\nsent: 0\ndelivered: 0\nfailed: 0\n"), std::string::npos) << out_;
  EXPECT_EQ(run({"pause", "mail"}), 0);
  EXPECT_NE(out_.find("paused: true\n"), std::string::npos) << out_;
  EXPECT_TRUE(lanes_.state[1].paused);
  EXPECT_EQ(run({"resume", "mail"}), 0);
  EXPECT_FALSE(lanes_.state[1].paused);
}

TEST_F(CliTest, AcceptLossSaysWhatIsLeft) {
  EXPECT_EQ(run({"store", "accept-loss", "/data"}), 0);
  EXPECT_EQ(requests_, (std::vector<std::string>{"accept-loss /data"}));
  EXPECT_EQ(out_, "kept: 7\nmissing: 2\nrevived: 0\n");
  EXPECT_EQ(run({"store", "accept-loss", "/data", "--json"}), 0);
  EXPECT_EQ(out_, *loss_);
  loss_ = absl::FailedPreconditionError("store /data: in use by another process");
  EXPECT_EQ(run({"store", "accept-loss", "/data"}), 1);
  EXPECT_EQ(err_, "forebay: store /data: in use by another process\n");
}

TEST_F(CliTest, JsonIsTheAnswerAsItIs) {
  capture();
  EXPECT_EQ(run({"events", "--json"}), 0);
  EXPECT_EQ(out_, get("/forebay/events").body);
}

TEST_F(CliTest, FailuresAreExitCode1WithTheReason) {
  EXPECT_EQ(run({"events", "--limit", "0"}), 1);
  EXPECT_EQ(err_, "forebay: limit: \"0\" is not a whole number from 1 to 1000\n");
  EXPECT_EQ(run({"pause", "nobody"}), 1);
  EXPECT_EQ(err_, "forebay: upstream \"nobody\" is not configured\n");
  answer_ = HttpResponse{404, "invalid path. admin commands are:\n"};
  EXPECT_EQ(run({"status"}), 1);
  EXPECT_EQ(err_,
            "forebay: HTTP 404 and no word of Forebay: \"invalid path. admin commands are:\\n\"\n");
  answer_ = HttpResponse{200, "<html>"};
  EXPECT_EQ(run({"status", "--json"}), 1);
  EXPECT_EQ(out_, "");
  answer_ = absl::UnavailableError("127.0.0.1:9901: can't connect: Connection refused");
  EXPECT_EQ(run({"status"}), 1);
  EXPECT_EQ(err_, "forebay: 127.0.0.1:9901: can't connect: Connection refused\n");
}

}  // namespace
}  // namespace forebay
